// SPDX-License-Identifier: Apache-2.0
// Limits on the cores of each type that a launch may use.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "acl/rt/types.h"
#include "src/base/settings.h"

namespace advstep {

inline constexpr size_t kCoreTypes = 2;  // aclrtDevResLimitType has as many values

/// The number of cores of each type that a launch may use. 0: all that there are. Plain data.
struct CoreLimits {
    std::array<uint32_t, kCoreTypes> cores{};
};

/// The limits of a device, which any thread reads without a lock.
class DeviceCoreLimits {
 public:
    uint32_t Of(aclrtDevResLimitType type) const {
        return cores_[static_cast<size_t>(type)].load(std::memory_order_relaxed);
    }
    void Set(aclrtDevResLimitType type, uint32_t cores) {
        cores_[static_cast<size_t>(type)].store(cores, std::memory_order_relaxed);
    }
    void Clear() {
        for (std::atomic<uint32_t>& cores : cores_) {
            cores.store(0, std::memory_order_relaxed);
        }
    }

 private:
    std::array<std::atomic<uint32_t>, kCoreTypes> cores_{};
};

/// Returns the number of cores of a type that the SoC has.
inline uint32_t SocCores(const SocSpec& soc, aclrtDevResLimitType type) {
    return static_cast<uint32_t>(type == ACL_RT_DEV_RES_CUBE_CORE ? soc.aiCores : soc.vectorCores);
}

}  // namespace advstep
