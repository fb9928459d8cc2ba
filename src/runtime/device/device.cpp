// SPDX-License-Identifier: Apache-2.0
// Counters by the names of operators, and the busy time of cores by periods of a tenth of a second.

#include "src/runtime/device/device.h"

#include <algorithm>
#include <cmath>

#include "src/base/log.h"

namespace advstep {

std::atomic<const CounterNames*> DeviceCounters::tables_[kTables] = {};

int32_t DeviceCounters::NewPlaceOf(const CounterNames& names) {
    for (int32_t table = 0; table < kTables; ++table) {
        // Only an empty place is written: launches read all of them.
        const CounterNames* before = tables_[table].load(std::memory_order_acquire);
        if (before == nullptr) {
            (void)tables_[table].compare_exchange_strong(before, &names, std::memory_order_acq_rel);
        }
        if (before == nullptr || before == &names) {
            return kCommonCounters + table * CounterNames::kMost;
        }
    }
    static std::atomic<bool> told{false};
    if (!told.load(std::memory_order_relaxed) && !told.exchange(true)) {
        Log(LogLevel::kWarn,
            "operators have more than {} tables of names of counters; the counters of the others "
            "are not kept",
            kTables);
    }
    return -1;
}

void DeviceCounters::AddSharedSuccess(int32_t first, int32_t count, const int64_t* numbers) {
    Add(kLaunches, 1);
    Sheet& sheet = sheets_[kOwnedSheets];
    for (int32_t index = 0; first >= 0 && index < count; ++index) {
        AddShared(&sheet.counters[first + index], numbers[index]);
    }
}

uint64_t DeviceCounters::Read(std::string_view name) const {
    uint64_t sum = 0;
    for (int32_t table = 0; table < kTables; ++table) {
        const CounterNames* const names = tables_[table].load(std::memory_order_acquire);
        for (int32_t index = 0; names != nullptr && index < names->count; ++index) {
            if (names->names[index] == name) {
                sum += SinceReset(kCommonCounters + table * CounterNames::kMost + index);
            }
        }
    }
    return sum;
}

bool DeviceCounters::IsCounted(std::string_view name) {
    for (const std::atomic<const CounterNames*>& table : tables_) {
        const CounterNames* const names = table.load(std::memory_order_acquire);
        if (names != nullptr && std::find(names->names, names->names + names->count, name) !=
                                    names->names + names->count) {
            return true;
        }
    }
    return false;
}

void DeviceCounters::Reset() {
    for (int32_t counter = 0; counter < kCounters; ++counter) {
        before_.counters[counter].store(Sum(counter), std::memory_order_release);
    }
}

uint64_t DeviceCounters::Sum(int32_t counter) const {
    uint64_t sum = 0;
    for (const Sheet& sheet : sheets_) {
        sum += sheet.counters[counter].load(std::memory_order_relaxed);
    }
    return sum;
}

uint64_t DeviceCounters::SinceReset(int32_t counter) const {
    // The sum at the last reset is read first, so that the present sum is not less.
    const uint64_t before = before_.counters[counter].load(std::memory_order_acquire);
    return Sum(counter) - before;
}

void CoreUsage::Add(Clock::time_point begin, Clock::time_point end, double share) {
    const int64_t last = Nanoseconds(end);
    const int64_t oldest = (last / kPeriodNanoseconds - kPeriods) * kPeriodNanoseconds;
    int64_t at = std::max(Nanoseconds(begin), oldest);
    const std::lock_guard<std::mutex> lock(mutex_);
    while (at < last) {
        const int64_t number = at / kPeriodNanoseconds;
        const int64_t upTo = std::min(last, (number + 1) * kPeriodNanoseconds);
        Period& period = periods_[static_cast<size_t>(number) % periods_.size()];
        if (period.number != number) {
            period = {number, 0};
        }
        period.busy += static_cast<double>(upTo - at) * share;
        at = upTo;
    }
}

int32_t CoreUsage::Percent(Clock::time_point now) {
    if (!on_.exchange(true, std::memory_order_relaxed)) {
        return -1;
    }
    const int64_t last = Nanoseconds(now);
    const int64_t number = last / kPeriodNanoseconds;
    double busy = 0;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        for (const Period& period : periods_) {
            if (period.number >= number - kPeriods && period.number <= number) {
                busy += period.busy;
            }
        }
    }
    // The time from the begin of the oldest period to now.
    const auto whole = static_cast<double>(last - (number - kPeriods) * kPeriodNanoseconds);
    return static_cast<int32_t>(std::lround(std::min(100.0, 100.0 * busy / whole)));
}

}  // namespace advstep
