// SPDX-License-Identifier: Apache-2.0
// The end of a wait.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace advstep::hccl {

class Deadline {
 public:
    using Clock = std::chrono::steady_clock;

    /// 0 seconds: there is no end.
    explicit Deadline(uint32_t seconds)
        : endless_(seconds == 0), end_(Clock::now() + std::chrono::seconds(seconds)) {}

    bool Passed() const { return !endless_ && Clock::now() >= end_; }

    /// Returns the milliseconds until the end, at most `most`: a timeout of poll.
    int Milliseconds(int most = 1000) const {
        if (endless_) {
            return most;
        }
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now()).count() + 1;
        return static_cast<int>(std::clamp<int64_t>(left, 0, most));
    }

 private:
    bool endless_;
    Clock::time_point end_;
};

}  // namespace advstep::hccl
