// SPDX-License-Identifier: Apache-2.0
// The dispatcher: it decides which request goes to which replica.
// It knows requests, times and loads; nothing of MPI.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "least_loaded.h"
#include "request_trace.h"

namespace serve {

struct Placement {
    const Request* request;
    int64_t replica;
};

inline constexpr int64_t kNever = INT64_MAX;

/// Places requests on the least loaded replica, a window of arrivals at a time.
///
/// A replica's load is the tokens, prompt and generated, of the requests placed on it that have not
/// finished: the KV cache that they come to. What has finished counts from the beginning of the
/// next window on, in virtual time; so the same trace is placed in the same way in every run,
/// however fast the replicas are in real time.
class Dispatcher {
 public:
    /// @param requests  by arrival; must outlive the dispatcher
    /// @param window    ticks, >= 1
    Dispatcher(const std::vector<Request>& requests, int64_t replicas, int64_t window);

    /// Of the next window with an arrival; kNever: all requests are placed.
    int64_t WindowBegin() const;

    /// A replica has finished a request; in any order.
    void Finished(int64_t replica, int64_t time, int64_t tokens);

    /// Places the requests that arrive in the next window. All that has finished by its beginning
    /// must have been told.
    std::vector<Placement> PlaceWindow();

    const LeastLoaded& Loads() const { return loads_; }

 private:
    struct Finish {
        int64_t time;
        int64_t replica;
        int64_t tokens;

        bool operator>(const Finish& other) const { return time > other.time; }
    };

    void ReleaseUntil(int64_t time);

    const std::vector<Request>& requests_;
    int64_t window_;
    size_t next_ = 0;
    LeastLoaded loads_;
    // Not yet taken off the loads; the earliest first. Those of one time are taken off together, so
    // their order does not matter.
    std::priority_queue<Finish, std::vector<Finish>, std::greater<>> finishes_;
};

}  // namespace serve
