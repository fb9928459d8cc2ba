// SPDX-License-Identifier: Apache-2.0
// The report of a run over time: one HTML page that needs nothing else.

#pragma once

#include <string>
#include <vector>

#include "report_compare.h"
#include "run_record.h"
#include "run_summary.h"
#include "serve_options.h"

namespace serve {

/// What a report is made of. All of it must outlive the report's making.
struct ReportData {
    const Options& options;
    const Statistics& statistics;
    const std::vector<TimeBucket>& buckets;
    double resolution;          // of the buckets, in seconds
    const RequestTimes& times;  // of completed requests
    int64_t replicas = 1;       // whose sums the buckets are; peaks are those of the busiest
    const OtherRun* other = nullptr;
};

/// The page is also well-formed XML. It has the numbers of SummaryJson as JSON, in the script
/// element "summary", and those of its charts in "timeline".
std::string ReportPage(const ReportData& data);

}  // namespace serve
