// SPDX-License-Identifier: Apache-2.0
// Draws the progress line and clears it.

#include "progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <string>

namespace serve {

ProgressBar::ProgressBar(int64_t requests)
    : requests_(requests), terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressBar::Update(int64_t completed, int64_t sequences, int64_t blocks) {
    constexpr int64_t kWidth = 30;
    constexpr std::chrono::milliseconds kInterval(100);
    if (!terminal_ || requests_ == 0) {
        return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (now < nextDraw_) {
        return;
    }
    nextDraw_ = now + kInterval;
    drawn_ = true;
    // To the line's start, then erase to its end. The terminal may be gone, which ends no run:
    // fmt::print would throw.
    const std::string line =
        fmt::format("\r[{:.<{}}] {:3}%  {} of {} requests, {} sequences, {} blocks\x1b[K",
                    std::string(static_cast<size_t>(completed * kWidth / requests_), '#'), kWidth,
                    completed * 100 / requests_, completed, requests_, sequences, blocks);
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
}

void ProgressBar::Clear() {
    if (drawn_) {
        std::fputs("\r\x1b[K", stderr);
        std::fflush(stderr);
        drawn_ = false;
    }
}

}  // namespace serve
