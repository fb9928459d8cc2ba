// SPDX-License-Identifier: Apache-2.0
// One emulated device: its identity, its settings, its cores, and what is counted and limited
// there.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "acl/rt/types.h"
#include "op_kernel/common/kernel.h"
#include "src/base/settings.h"
#include "src/runtime/device/core_order.h"
#include "src/runtime/device/core_pool.h"
#include "src/runtime/device/device_resources.h"

namespace advstep {

/// The counters of the launches of a device. Operators have counters of their own, which they name
/// (CounterNames). Launches on several threads add at the same time. Each number is right by
/// itself, and all of them together are right once the launches have been waited for.
///
/// Each of the first threads of the process that add has a sheet of its own, which no other thread
/// writes: an addition to a shared sheet costs a launch of 8 rows a tenth of its time. All later
/// threads share the last sheet. A reset writes no sheet, but keeps the sums to subtract.
class DeviceCounters {
 public:
    /// The counters that every launch has.
    enum Counter : int32_t { kLaunches, kAllocationFailures, kExceptions, kCommonCounters };

    /// Counts a launch that succeeded.
    void AddSuccess() { Add(kLaunches, 1); }

    /// Counts a launch that succeeded, with a number for each of the names.
    void AddSuccess(const CounterNames& names, const int64_t* numbers) {
        const int32_t thread = ThreadNumber();
        const int32_t first = PlaceOf(names);
        if (__builtin_expect(thread < kOwnedSheets && first >= 0, 1)) {
            Sheet& sheet = sheets_[thread];
            AddAlone(&sheet.counters[kLaunches], 1);
            for (int32_t index = 0; index < names.count; ++index) {
                AddAlone(&sheet.counters[first + index], numbers[index]);
            }
        } else {
            AddSharedSuccess(first, names.count, numbers);
        }
    }

    /// Counts a failed launch. `failure` is kAllocationFailures or kExceptions.
    void AddFailure(Counter failure) {
        Add(kLaunches, 1);
        Add(failure, 1);
    }

    uint64_t Read(Counter counter) const { return SinceReset(counter); }

    /// Returns the sum of all operators' counters of that name.
    uint64_t Read(std::string_view name) const;

    /// Returns whether an operator with a counter of that name has run in this process.
    static bool IsCounted(std::string_view name);

    void Reset();

 private:
    static constexpr int32_t kOwnedSheets = 15;
    static constexpr int32_t kTables = 16;  // of names, in a process
    static constexpr int32_t kCounters = kCommonCounters + kTables * CounterNames::kMost;

    struct alignas(64) Sheet {
        std::atomic<uint64_t> counters[kCounters] = {};
    };

    /// Returns the place of the counter that the first of the names stands for: the same in every
    /// sheet of every device. -1: there are too many tables of names, so these are not counted.
    static int32_t PlaceOf(const CounterNames& names) {
        for (int32_t table = 0; table < kTables; ++table) {
            if (tables_[table].load(std::memory_order_acquire) == &names) {
                return kCommonCounters + table * CounterNames::kMost;
            }
        }
        return NewPlaceOf(names);
    }
    // The rare way, out of line: a table of names is new, or there are too many.
    [[gnu::noinline]] static int32_t NewPlaceOf(const CounterNames& names);

    void Add(Counter counter, int64_t more) {
        const int32_t thread = ThreadNumber();
        if (thread < kOwnedSheets) {
            AddAlone(&sheets_[thread].counters[counter], more);
        } else {
            AddShared(&sheets_[kOwnedSheets].counters[counter], more);
        }
    }

    // It is a call of its own, so that the usual addition saves no registers for it.
    [[gnu::noinline]] void AddSharedSuccess(int32_t first, int32_t count, const int64_t* numbers);

    // Adds to a sheet that no other thread writes. It adds zeros as well, which costs less than a
    // test.
    static void AddAlone(std::atomic<uint64_t>* value, int64_t more) {
        value->store(value->load(std::memory_order_relaxed) + static_cast<uint64_t>(more),
                     std::memory_order_relaxed);
    }

    static void AddShared(std::atomic<uint64_t>* value, int64_t more) {
        if (more != 0) {
            value->fetch_add(static_cast<uint64_t>(more), std::memory_order_relaxed);
        }
    }

    /// Returns the calling thread's number: 0, 1, ... in the order of the threads' first calls. No
    /// number is given twice.
    static int32_t ThreadNumber() {
        static std::atomic<int32_t> next{0};
        thread_local int32_t number = -1;
        if (number < 0) {
            number = next.fetch_add(1, std::memory_order_relaxed);
        }
        return number;
    }

    uint64_t Sum(int32_t counter) const;
    uint64_t SinceReset(int32_t counter) const;

    // The tables of names whose numbers launches have added. None is ever removed, so launches read
    // them without a lock, and the child of a fork finds them whole.
    static std::atomic<const CounterNames*> tables_[kTables];

    Sheet sheets_[kOwnedSheets + 1];
    Sheet before_;  // the sums at the last reset
};

/// Measures how busy the cores of a device are. It costs a launch one relaxed load until somebody
/// asks for the first time. mutex_ guards the periods, and no lock is taken after it.
class CoreUsage {
 public:
    using Clock = std::chrono::steady_clock;

    bool On() const { return on_.load(std::memory_order_relaxed); }

    /// Adds a kernel that ran on `share` (0 to 1) of the cores.
    void Add(Clock::time_point begin, Clock::time_point end, double share);

    /// Returns the percentage of the core time of the second before `now` that kernels have used.
    /// The first call starts the measurement and returns -1.
    int32_t Percent(Clock::time_point now);

 private:
    static constexpr int64_t kPeriodNanoseconds = 100'000'000;
    static constexpr int64_t kPeriods = 10;  // of a second

    struct Period {
        int64_t number = -1;  // since the clock's epoch
        double busy = 0;      // nanoseconds times share
    };

    static int64_t Nanoseconds(Clock::time_point time) {
        return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch())
            .count();
    }

    std::atomic<bool> on_{false};
    std::mutex mutex_;
    std::array<Period, kPeriods + 2> periods_;  // by number, in turns
};

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

/// One emulated device. Its id, settings and core order never change after construction, so any
/// thread may read them.
class Device {
 public:
    Device(int32_t id, const Settings& settings)
        : id_(id),
          settings_(settings),
          limitsOfObjects_(DeviceLimits::OfSoc(settings.soc.name)),
          order_(settings.coreOrder),
          cores_(settings.threads) {
        limitsOfObjects_.Override(settings.limits);
    }

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
    DeviceResources& resources() const { return resources_; }
    const DeviceLimits& limitsOfObjects() const { return limitsOfObjects_; }
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
    DeviceLimits limitsOfObjects_;
    const CoreOrder order_;
    mutable CorePool cores_;
    mutable DeviceCounters counters_;
    mutable DeviceCoreLimits limits_;
    mutable CoreUsage usage_;
    mutable DeviceResources resources_;
    mutable std::atomic<int32_t> aborts_{0};
    mutable std::atomic<int32_t> drops_{0};
    mutable std::atomic<uint64_t> abortsEver_{0};
};

}  // namespace advstep
