// SPDX-License-Identifier: Apache-2.0
// Requests that come in windows, as a dispatcher grants them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "finished_request.h"
#include "request_source.h"

namespace serve {

/// What a replica may serve: all its requests that arrive before a time.
struct Grant {
    int64_t until;  // ticks; kNever: there will be no more
    std::vector<Request> requests;
};

/// A replica's side of the dispatcher.
class GrantExchange {
 public:
    virtual ~GrantExchange() = default;

    /// Tells what has finished since the last call, and waits for the next window. Called when the
    /// replica has come to the end of the last grant, or has nothing to do.
    virtual Grant Next(const std::vector<FinishedRequest>& finished) = 0;
};

/// A source that asks for the next grant when its server comes to the end of the last one.
class GrantedSource : public RequestSource {
 public:
    /// exchange must outlive the source.
    GrantedSource(GrantExchange& exchange, const RequestLimits& limits)
        : exchange_(exchange), limits_(limits) {}

    const RequestLimits& Limits() const override { return limits_; }
    int64_t Requests() const override { return static_cast<int64_t>(requests_.size()); }
    const Request* Take(int64_t now) override;
    std::optional<int64_t> NextArrival() override;

    void Finished(const FinishedRequest& request) { finished_.push_back(request); }
    /// Not yet told to the exchange.
    const std::vector<FinishedRequest>& Untold() const { return finished_; }

 private:
    void Ask();

    GrantExchange& exchange_;
    RequestLimits limits_;
    int64_t until_ = 0;
    std::deque<Request> requests_;  // stay where they are: sequences point to them
    size_t next_ = 0;
    std::vector<FinishedRequest> finished_;
};

}  // namespace serve
