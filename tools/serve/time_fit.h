// SPDX-License-Identifier: Apache-2.0
// Costs of an iteration that fit measurements.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "virtual_clock.h"

namespace serve {

struct Measurement {
    IterationWork work;
    double seconds;
};

/// CSV with the columns prefill_tokens, decode_rows, context_tokens and seconds, in any order and
/// among others. Blank lines are skipped. Seconds are at most what a cost may be, so that the costs
/// that fit are, too.
/// @throws TraceError  names the line, and the column with its value
std::vector<Measurement> ReadMeasurements(const std::string& path);

struct Fit {
    std::array<double, 4>
        seconds{};   // of an iteration, a prefill token, a decode row, a context token
    double rms = 0;  // of what is measured less what the costs say, in seconds
    double most = 0;
    double rSquared = 0;
    bool isDetermined = true;  // whether no other costs fit as well
};

/// Least squares with no cost below 0: of the least squares over each subset of the four costs, the
/// others being 0, the best one without a negative cost. No cost is above what LoadTimeModel takes.
/// @throws TraceError  the measurements do not determine any cost
Fit FitCosts(const std::vector<Measurement>& measurements);

/// A file for --time-model, with the residuals in its key "fit".
std::string FitText(const Fit& fit, size_t measurements);

}  // namespace serve
