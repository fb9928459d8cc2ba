// SPDX-License-Identifier: Apache-2.0
// The way of requests from the dispatcher to the ranks: a GrantExchange for each role.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "assignment.h"
#include "dispatcher.h"
#include "granted_source.h"
#include "mpi_link.h"

namespace serve {

/// What a rank has waited for grants.
class TimedExchange : public GrantExchange {
 public:
    Grant Next(const std::vector<FinishedRequest>& finished) final;
    double Seconds() const { return seconds_; }

 private:
    virtual Grant Ask(const std::vector<FinishedRequest>& finished) = 0;

    double seconds_ = 0;
};

/// Rank 0: the dispatcher. Takes the reports of all leaders, places the next window, sends every
/// leader its part, and passes its own replica's on to the other members.
class DispatchingExchange : public TimedExchange {
 public:
    /// @param requests  of the whole trace, by arrival; must outlive the exchange, as link
    /// @param progress  told how many requests have finished, as far as reported
    DispatchingExchange(Link& link, const std::vector<Request>& requests, int64_t window,
                        std::function<void(int64_t)> progress);

    const Assignment& Placed() const { return placed_; }
    /// Of all replicas, as far as they have been told.
    const std::vector<FinishedRequest>& AllFinished() const { return finished_; }
    void Take(const std::vector<FinishedRequest>& finished);
    int64_t Windows() const { return windows_; }

 private:
    Grant Ask(const std::vector<FinishedRequest>& finished) override;

    Link& link_;
    const std::vector<Request>& requests_;
    Dispatcher dispatcher_;
    std::function<void(int64_t)> progress_;
    Assignment placed_;
    std::vector<FinishedRequest> finished_;
    int64_t windows_ = 0;
};

/// The exchange of a rank that does not dispatch: a leader reports to rank 0, a member hears from
/// its leader.
std::unique_ptr<TimedExchange> MakeExchange(Link& link);

}  // namespace serve
