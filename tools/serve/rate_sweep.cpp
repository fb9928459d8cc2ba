// SPDX-License-Identifier: Apache-2.0
// Implements the search for the largest rate.

#include "rate_sweep.h"

#include <algorithm>
#include <cmath>

namespace serve {

std::vector<Request> AtRate(const std::vector<Request>& requests, double factor) {
    std::vector<Request> changed = requests;
    for (Request& request : changed) {
        request.arrival = std::llround(static_cast<double>(request.arrival) / factor);
    }
    return changed;
}

RateSweep SweepRate(const std::vector<Request>& requests, double attainment,
                    const std::function<Statistics(const std::vector<Request>&)>& serve) {
    constexpr int kMostDoublings = 20;
    constexpr double kPrecision = 1.01;
    constexpr double kLatestTicks = 1e18;  // of an arrival, as in a trace
    const int64_t last = requests.back().arrival;
    if (last == 0) {
        throw TraceError("--sweep rate: all requests arrive at the same time, so there is no rate");
    }
    if (static_cast<double>(last) > kLatestTicks) {
        throw TraceError("--sweep rate: the trace spans " + std::to_string(last / kTicksPerSecond) +
                         " s; expected at most " +
                         std::to_string(static_cast<int64_t>(kLatestTicks) / kTicksPerSecond) +
                         " s");
    }
    const double rate =
        static_cast<double>(requests.size() - 1) * kTicksPerSecond / static_cast<double>(last);
    RateSweep sweep;
    bool ended = false;
    const auto meets = [&](double factor) {
        sweep.trials.push_back({rate * factor, serve(AtRate(requests, factor))});
        const RateTrial& trial = sweep.trials.back();
        ended = !trial.statistics.Good();
        return !ended && trial.Attainment() >= attainment;
    };
    std::optional<double> met;
    std::optional<double> missed;
    double factor = 1;
    for (int i = 0; i <= kMostDoublings && !ended && !(met && missed); ++i) {
        if (static_cast<double>(last) / factor > kLatestTicks) {
            break;
        }
        if (meets(factor)) {
            met = factor;
            factor *= 2;
        } else if (!ended) {
            missed = factor;
            factor /= 2;
        }
    }
    while (met && missed && !ended && *missed / *met > kPrecision) {
        const double middle = std::sqrt(*met * *missed);
        if (meets(middle)) {
            met = middle;
        } else if (!ended) {
            missed = middle;
        }
    }
    if (met) {
        sweep.best = rate * *met;
    }
    sweep.isLimit = met && missed;
    return sweep;
}

}  // namespace serve
