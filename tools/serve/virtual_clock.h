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

inline constexpr int64_t kPicosecondsPerTick = 100'000;

/// What the model is given in a pass.
struct IterationWork {
    int64_t prefillTokens = 0;
    int64_t decodeRows = 0;     // tokens that are not of a prefill
    int64_t contextTokens = 0;  // in the cache before the pass, of all sequences in it
};

/// Whole picoseconds, so that every machine computes the same times.
struct IterationCosts {
    int64_t iteration = kIterationTicks * kPicosecondsPerTick;
    int64_t prefillToken = kPrefillTokenTicks * kPicosecondsPerTick;
    int64_t decodeRow = kDecodeRowTicks * kPicosecondsPerTick;
    int64_t contextToken = 0;

    /// Rounded to the nearest tick, and at least one.
    int64_t Ticks(const IterationWork& work) const {
        __extension__ using Wide = __int128;  // a product of two is beyond 64 bits
        const Wide picoseconds = Wide{iteration} + Wide{prefillToken} * work.prefillTokens +
                                 Wide{decodeRow} * work.decodeRows +
                                 Wide{contextToken} * work.contextTokens;
        const Wide ticks = (picoseconds + kPicosecondsPerTick / 2) / kPicosecondsPerTick;
        constexpr int64_t kMostTicks = int64_t{1} << 52;
        return static_cast<int64_t>(std::clamp<Wide>(ticks, 1, kMostTicks));
    }
};

/// Ticks since the trace's first arrival.
class VirtualClock {
 public:
    int64_t Now() const { return now_; }
    double Seconds() const { return static_cast<double>(now_) / kTicksPerSecond; }

    void JumpTo(int64_t time) { now_ = std::max(now_, time); }
    /// An iteration has at most 2^52 ticks, so there is room for one more at kEnd.
    void CountIteration(int64_t ticks) { now_ += ticks; }
    bool AtEnd() const { return now_ > kEnd; }

    static constexpr int64_t kEnd = int64_t{1} << 62;

 private:
    int64_t now_ = 0;
};

}  // namespace serve
