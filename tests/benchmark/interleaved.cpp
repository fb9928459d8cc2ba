// SPDX-License-Identifier: Apache-2.0
// Measures two sides in turns and computes quantiles.

#include "tests/benchmark/interleaved.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace bench {
namespace {

double Interpolate(const std::vector<double>& sorted, double fraction) {
    const double place = fraction * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - std::floor(place)) * (sorted[above] - sorted[below]);
}

}  // namespace

int64_t CalibrateRuns(const Side& side, double batchNanoseconds) {
    if (side.fixedRuns > 0) {
        return side.fixedRuns;
    }
    // Longer and longer batches, as one run is too short for the clock; the better of two, as the
    // first is cold.
    int64_t runs = 1;
    for (;;) {
        const double each = std::max(std::min(side.time(runs), side.time(runs)), 0.1);
        const double wanted = std::max(1.0, batchNanoseconds / each);
        const auto most = static_cast<double>(side.mostRuns);
        if (static_cast<double>(runs) * 8 >= wanted || runs >= side.mostRuns) {
            return static_cast<int64_t>(std::min(wanted, most));
        }
        runs = std::min(runs * 8, side.mostRuns);
    }
}

Series Interleave(const Comparison& comparison, const Budget& budget) {
    Series series;
    const bool alone = !comparison.baseline.time;
    series.libraryRuns = CalibrateRuns(comparison.library, budget.batchNanoseconds);
    if (!alone) {
        series.baselineRuns = CalibrateRuns(comparison.baseline, budget.batchNanoseconds);
        if (comparison.sameRuns) {
            series.libraryRuns = std::min(series.libraryRuns, series.baselineRuns);
            series.baselineRuns = series.libraryRuns;
        }
    }
    const auto timeLibrary = [&] { return comparison.library.time(series.libraryRuns); };
    const auto timeBaseline = [&] { return comparison.baseline.time(series.baselineRuns); };
    timeLibrary();
    if (!alone) {
        timeBaseline();
    }
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::duration<double>(budget.seconds);
    for (int64_t pair = 0; pair < budget.mostPairs; ++pair) {
        if (pair >= budget.fewestPairs && std::chrono::steady_clock::now() >= end) {
            break;
        }
        series.library.push_back(timeLibrary());
        if (!alone) {
            series.baseline.push_back(timeBaseline());
        }
    }
    return series;
}

Quartiles QuartilesOf(std::vector<double> values) {
    if (values.empty()) {
        return {};
    }
    std::sort(values.begin(), values.end());
    return {Interpolate(values, 0.25), Interpolate(values, 0.5), Interpolate(values, 0.75)};
}

double QuantileOf(std::vector<double> values, double fraction) {
    if (values.empty()) {
        return 0;
    }
    std::sort(values.begin(), values.end());
    const double place = std::ceil(fraction * static_cast<double>(values.size())) - 1;
    return values[static_cast<size_t>(std::max(place, 0.0))];
}

}  // namespace bench
