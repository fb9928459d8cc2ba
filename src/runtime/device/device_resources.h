// SPDX-License-Identifier: Apache-2.0
// The count of what a device has a limited number of, for the sanitizer's check of limits.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "src/base/device_limits.h"
#include "src/base/sanitizer.h"
#include "src/base/status.h"

namespace advstep {

class Device;

/// The live objects of a device. Only those are counted that were made under the check of limits.
class DeviceResources {
 public:
    uint64_t Count(DeviceResource resource) const {
        return counts_[static_cast<size_t>(resource)].load(std::memory_order_relaxed);
    }

 private:
    friend class ResourceHold;

    std::array<std::atomic<uint64_t>, kDeviceResources> counts_{};
};

/// What one object takes of a device. The destructor gives it back. Devices are never destroyed.
class ResourceHold {
 public:
    ResourceHold() = default;
    ResourceHold(ResourceHold&& other) noexcept { *this = std::move(other); }
    ResourceHold& operator=(ResourceHold&& other) noexcept {
        GiveBack();
        count_ = std::exchange(other.count_, nullptr);
        amount_ = other.amount_;
        return *this;
    }
    ~ResourceHold() { GiveBack(); }

    /// Takes an object, or as many bytes, of the device. `code`: the device has no more of them,
    /// which is a finding. Without the check of limits it does nothing. Locks may be held.
    static Status Take(const Device* device, DeviceResource resource, int32_t code,
                       ResourceHold* hold, uint64_t amount = 1) {
        return Sanitizing(SanitizerCheck::kLimits)
                   ? TakeChecked(device, resource, code, hold, amount)
                   : Status();
    }

    void GiveBack() {
        if (count_ != nullptr) {
            std::exchange(count_, nullptr)->fetch_sub(amount_, std::memory_order_relaxed);
        }
    }

 private:
    static Status TakeChecked(const Device* device, DeviceResource resource, int32_t code,
                              ResourceHold* hold, uint64_t amount);

    std::atomic<uint64_t>* count_ = nullptr;
    uint64_t amount_ = 0;
};

/// Returns how many more of them the device has. No value: there is no limit, or no check of it.
std::optional<uint64_t> AvailableResources(const Device& device, DeviceResource resource);

}  // namespace advstep
