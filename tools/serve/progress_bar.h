// SPDX-License-Identifier: Apache-2.0
// One line on a terminal that says how far the run is.

#pragma once

#include <chrono>
#include <cstdint>

namespace serve {

/// Writes to standard error, and only if that is a terminal.
class ProgressBar {
 public:
    /// @param requests  0: nothing is written
    explicit ProgressBar(int64_t requests);
    ~ProgressBar() { Clear(); }
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    /// Cheap enough for every iteration: redraws a few times a second.
    void Update(int64_t completed, int64_t sequences, int64_t blocks);
    /// Takes the line away, so that other text can be written.
    void Clear();

 private:
    int64_t requests_;
    bool terminal_;
    bool drawn_ = false;
    std::chrono::steady_clock::time_point nextDraw_;
};

}  // namespace serve
