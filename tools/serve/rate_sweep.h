// SPDX-License-Identifier: Apache-2.0
// The largest rate of requests at which a deployment meets its targets.

#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "request_trace.h"
#include "run_summary.h"

namespace serve {

/// The trace, served at another rate.
struct RateTrial {
    double rate;  // requests a second: those after the first, by the time of the last arrival
    Statistics statistics;

    double Attainment() const {
        return static_cast<double>(statistics.good) / static_cast<double>(statistics.requests);
    }
};

struct RateSweep {
    std::vector<RateTrial> trials;  // as they were run
    std::optional<double> best;     // the largest rate that met the targets; nothing: none did
    bool isLimit = false;           // a rate above it did not
};

/// The requests with their times between arrivals divided by the factor.
std::vector<Request> AtRate(const std::vector<Request>& requests, double factor);

/// Doubles or halves the trace's rate, at most 2^20 times, until the targets are met on one side
/// only; then bisects to 1 %. Supposes that what is met at a rate is met at every lower one. Ends
/// early after an interrupt or a run that did not complete.
/// @param serve  runs requests
/// @throws TraceError  all requests arrive together, or span more than 1e18 ticks
RateSweep SweepRate(const std::vector<Request>& requests, double attainment,
                    const std::function<Statistics(const std::vector<Request>&)>& serve);

}  // namespace serve
