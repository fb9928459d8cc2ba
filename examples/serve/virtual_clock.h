// SPDX-License-Identifier: Apache-2.0
// The time that the trace's server would have spent, modelled: the toy model costs next to nothing.

#pragma once

#include <algorithm>
#include <cstdint>

#include "request_trace.h"

namespace serve {

// About a 13-billion-parameter model on one accelerator.
inline constexpr int64_t kIterationTicks = kTicksPerSecond / 50;         // 20 ms, whatever is in it
inline constexpr int64_t kPrefillTokenTicks = kTicksPerSecond / 10'000;  // 0.1 ms
inline constexpr int64_t kDecodeRowTicks = kTicksPerSecond / 10'000;     // 0.1 ms

/// Ticks since the trace's first arrival.
class VirtualClock {
 public:
    int64_t Now() const { return now_; }
    double Seconds() const { return static_cast<double>(now_) / kTicksPerSecond; }

    void JumpTo(int64_t time) { now_ = std::max(now_, time); }
    void CountIteration(int64_t prefillTokens, int64_t decodeRows) {
        now_ += kIterationTicks + prefillTokens * kPrefillTokenTicks + decodeRows * kDecodeRowTicks;
    }

 private:
    int64_t now_ = 0;
};

}  // namespace serve
