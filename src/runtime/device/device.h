// SPDX-License-Identifier: Apache-2.0
// One emulated device: its identity, its settings, its cores and its counters.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "src/base/settings.h"
#include "src/runtime/device/core_limits.h"
#include "src/runtime/device/core_order.h"
#include "src/runtime/device/core_pool.h"
#include "src/runtime/device/core_usage.h"
#include "src/runtime/device/device_counters.h"

namespace advstep {

/// One emulated device. Its id, settings and core order never change after construction, so any
/// thread may read them.
class Device {
 public:
    Device(int32_t id, const Settings& settings)
        : id_(id), settings_(settings), order_(settings.coreOrder), cores_(settings.threads) {}

    int32_t id() const { return id_; }
    /// Returns a number that no other device ever has, not even one that is made later at the same
    /// address.
    uint64_t serial() const { return serial_; }
    const Settings& settings() const { return settings_; }
    const CoreOrder& order() const { return order_; }
    CorePool& cores() const { return cores_; }
    DeviceCounters& counters() const { return counters_; }
    DeviceCoreLimits& limits() const { return limits_; }
    CoreUsage& usage() const { return usage_; }
    /// The number of threads in aclrtDeviceTaskAbort; launches are refused meanwhile.
    std::atomic<int32_t>& aborts() const { return aborts_; }
    /// The number of threads that are dropping the work of the device's streams, one stream after
    /// another. Meanwhile no task starts that has not been dropped.
    std::atomic<int32_t>& drops() const { return drops_; }
    /// The number of calls of aclrtDeviceTaskAbort so far.
    std::atomic<uint64_t>& abortsEver() const { return abortsEver_; }

 private:
    static uint64_t NextSerial() {
        static std::atomic<uint64_t> last{0};
        return last.fetch_add(1, std::memory_order_relaxed) + 1;
    }

    const uint64_t serial_ = NextSerial();
    const int32_t id_;
    const Settings settings_;
    const CoreOrder order_;
    mutable CorePool cores_;
    mutable DeviceCounters counters_;
    mutable DeviceCoreLimits limits_;
    mutable CoreUsage usage_;
    mutable std::atomic<int32_t> aborts_{0};
    mutable std::atomic<int32_t> drops_{0};
    mutable std::atomic<uint64_t> abortsEver_{0};
};

}  // namespace advstep
