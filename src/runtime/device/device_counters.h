// SPDX-License-Identifier: Apache-2.0
// Counters of the work that operators have done on a device.

#pragma once

#include <atomic>
#include <cstdint>

#include "op_kernel/common/kernel.h"

namespace advstep {

/// Counts of the work that the operators have done on a device. Launches on several threads add at
/// the same time. Each number is right by itself, and all of them together are right once the
/// launches have been waited for.
///
/// Each of the first threads of the process that add has a sheet of its own, which no other thread
/// writes: an addition to a shared sheet costs a launch of 8 rows a tenth of its time. All later
/// threads share the last sheet. A reset writes no sheet, but keeps the sums to subtract.
class DeviceCounters {
 public:
    struct Values {
        uint64_t launches = 0;
        LaunchCounts done;
        uint64_t noProgress = 0;
        uint64_t dataErrors = 0;
    };

    void AddSuccess(const LaunchCounts& counts) {
        const int32_t number = ThreadNumber();
        if (__builtin_expect(number < kOwnedSheets, 1)) {
            AddCounts(counts, [sheet = &sheets_[number]](Counter counter, int64_t more) {
                AddAlone(&sheet->counters[counter], more);
            });
        } else {
            AddSharedCounts(counts);
        }
    }

    /// Counts a failed launch. `noProgress`: it failed because no blocks were free. False: it
    /// failed because of bad data.
    void AddFailure(bool noProgress) {
        const int32_t number = ThreadNumber();
        for (const Counter counter : {kLaunches, noProgress ? kNoProgress : kDataErrors}) {
            if (number < kOwnedSheets) {
                AddAlone(&sheets_[number].counters[counter], 1);
            } else {
                AddShared(&sheets_[kOwnedSheets].counters[counter], 1);
            }
        }
    }

    Values Read() const {
        const auto get = [this](Counter counter) {
            // The sum at the last reset is read first, so that the present sum is not less.
            const uint64_t before = before_.counters[counter].load(std::memory_order_acquire);
            return Sum(counter) - before;
        };
        const auto count = [&](Counter counter) { return static_cast<int64_t>(get(counter)); };
        Values values;
        values.launches = get(kLaunches);
        values.done.advanced = count(kAdvanced);
        values.done.padded = count(kPadded);
        values.done.released = count(kReleased);
        values.done.needed = count(kNeeded);
        values.done.preempted = count(kPreempted);
        values.done.dispatched = count(kDispatched);
        values.done.recovered = count(kRecovered);
        values.noProgress = get(kNoProgress);
        values.dataErrors = get(kDataErrors);
        return values;
    }

    void Reset() {
        for (int counter = 0; counter < kCounters; ++counter) {
            before_.counters[counter].store(Sum(static_cast<Counter>(counter)),
                                            std::memory_order_release);
        }
    }

 private:
    static constexpr int32_t kOwnedSheets = 15;

    enum Counter {
        kLaunches,
        kAdvanced,
        kPadded,
        kReleased,
        kNeeded,
        kPreempted,
        kDispatched,
        kRecovered,
        kNoProgress,
        kDataErrors,
        kCounters
    };
    struct alignas(64) Sheet {
        std::atomic<uint64_t> counters[kCounters] = {};
    };

    template <typename Add>
    static void AddCounts(const LaunchCounts& counts, const Add& add) {
        add(kLaunches, 1);
        add(kAdvanced, counts.advanced);
        add(kPadded, counts.padded);
        if ((counts.released | counts.needed | counts.preempted | counts.dispatched |
             counts.recovered) == 0) {
            return;  // the operator is not Step
        }
        add(kReleased, counts.released);
        add(kNeeded, counts.needed);
        add(kPreempted, counts.preempted);
        add(kDispatched, counts.dispatched);
        add(kRecovered, counts.recovered);
    }

    // It is a call of its own, so that the usual addition saves no registers for it.
    [[gnu::noinline]] void AddSharedCounts(const LaunchCounts& counts) {
        AddCounts(counts, [this](Counter counter, int64_t more) {
            AddShared(&sheets_[kOwnedSheets].counters[counter], more);
        });
    }

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

    uint64_t Sum(Counter counter) const {
        uint64_t sum = 0;
        for (const Sheet& sheet : sheets_) {
            sum += sheet.counters[counter].load(std::memory_order_relaxed);
        }
        return sum;
    }

    Sheet sheets_[kOwnedSheets + 1];
    Sheet before_;  // the sums at the last reset
};

}  // namespace advstep
