// SPDX-License-Identifier: Apache-2.0
// The report of a run over time: one HTML page that needs nothing else.

#pragma once

#include <string>

#include "run_record.h"
#include "run_summary.h"
#include "serve_options.h"

namespace serve {

/// The page is also well-formed XML. It has the numbers of SummaryJson as JSON, in the script
/// element "summary", and those of its charts in "timeline".
std::string ReportPage(const Options& options, const Statistics& statistics,
                       const RunRecord& record);

}  // namespace serve
