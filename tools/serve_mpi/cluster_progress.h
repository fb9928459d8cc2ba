// SPDX-License-Identifier: Apache-2.0
// One line that says how far all replicas are together.

#pragma once

#include <chrono>
#include <cstdint>

namespace serve {

/// Writes to standard error, in place; only if that is a terminal or the option says so.
class ClusterProgress {
 public:
    ClusterProgress(int64_t requests, int64_t replicas, bool always);
    ~ClusterProgress() { Clear(); }
    ClusterProgress(const ClusterProgress&) = delete;
    ClusterProgress& operator=(const ClusterProgress&) = delete;

    void Update(int64_t finished);
    void Clear();

 private:
    int64_t requests_;
    int64_t replicas_;
    bool shown_;
    bool drawn_ = false;
    std::chrono::steady_clock::time_point nextDraw_;
};

}  // namespace serve
