// SPDX-License-Identifier: Apache-2.0
// A trace, served with every combination of some options' values, and which of them are best.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run_summary.h"
#include "serve_options.h"

namespace serve {

/// An option without its dashes, and the values that it takes.
struct SweepAxis {
    std::string option;
    std::vector<std::string> values;
};

/// Of "OPTION=VALUE,VALUE,..." for each axis. Values are not judged here.
/// @throws std::runtime_error  it has another form, an option comes twice or is not swept over, or
///                             there are more than 1000 combinations
std::vector<SweepAxis> ParseAxes(const std::vector<std::string>& texts);

/// One value for each axis. The last axis changes first.
std::vector<std::vector<std::string>> CombinationsOf(const std::vector<SweepAxis>& axes);

/// The trace, served with a combination.
struct OptionTrial {
    std::vector<std::string> values;  // one for each axis
    Options options;
    Statistics statistics{};
    bool isFront = false;  // no other one is at least as good in all that is told and better in one
};

/// Of the trials that completed: more tokens by virtual second, and the p99 of TTFT and of TPOT in
/// less time, are better.
void MarkFront(std::vector<OptionTrial>& trials);

std::string SweepTable(const std::vector<SweepAxis>& axes, const std::vector<OptionTrial>& trials);
nlohmann::ordered_json SweepJson(const std::vector<SweepAxis>& axes,
                                 const std::vector<OptionTrial>& trials);
/// One HTML page that needs nothing else: latency over throughput, and the table.
std::string SweepPage(const std::vector<SweepAxis>& axes, const std::vector<OptionTrial>& trials);

}  // namespace serve
