// SPDX-License-Identifier: Apache-2.0
// Adds up the busy time of cores by periods of a tenth of a second.

#include "src/runtime/device/device.h"

#include <algorithm>
#include <cmath>

namespace advstep {

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
