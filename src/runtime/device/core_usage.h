// SPDX-License-Identifier: Apache-2.0
// The share of a device's core time that kernels have used in the last second.

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace advstep {

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

}  // namespace advstep
