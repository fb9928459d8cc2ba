// SPDX-License-Identifier: Apache-2.0
// Draws the progress line of a cluster and clears it.

#include "cluster_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace serve {

ClusterProgress::ClusterProgress(int64_t requests, int64_t replicas, bool always)
    : requests_(requests),
      replicas_(replicas),
      shown_(requests > 0 && (always || isatty(STDERR_FILENO) != 0)) {}

void ClusterProgress::Update(int64_t finished) {
    constexpr std::chrono::milliseconds kInterval(200);
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || now < nextDraw_) {
        return;
    }
    nextDraw_ = now + kInterval;
    drawn_ = true;
    // The terminal may be gone, which ends no run: fmt::print would throw.
    const std::string line =
        fmt::format("\r{:3}%  {} of {} requests finished by {} replicas\x1b[K",
                    finished * 100 / requests_, finished, requests_, replicas_);
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
}

void ClusterProgress::Clear() {
    if (drawn_) {
        std::fputs("\r\x1b[K", stderr);
        std::fflush(stderr);
        drawn_ = false;
    }
}

}  // namespace serve
