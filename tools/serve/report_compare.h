// SPDX-License-Identifier: Apache-2.0
// Another run, read from its report, and the table that holds a run against it.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run_record.h"

namespace serve {

struct OtherRun {
    std::string path;
    nlohmann::ordered_json summary;
    std::vector<TimeBucket> buckets;  // ascending
};

/// @throws std::runtime_error  the file cannot be read, or is no report of serve or serve_mpi
OtherRun ReadReport(const std::string& path);

/// The settings in which the runs differ, and their results with the change in percent, as HTML.
std::string ComparisonTable(const nlohmann::ordered_json& summary, const OtherRun& other);

}  // namespace serve
