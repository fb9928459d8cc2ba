// SPDX-License-Identifier: Apache-2.0
// The report of a run over time: one HTML page that needs nothing else.

#pragma once

#include <string>

#include "run_record.h"
#include "run_summary.h"
#include "serve_options.h"

namespace serve {

/// The page is also well-formed XML. It has the numbers of WriteSummary as JSON, in the script
/// element "summary", and those of its charts in "timeline".
/// @throws std::runtime_error  the file cannot be written
void WriteReport(const std::string& path, const Options& options, const Statistics& statistics,
                 const RunRecord& record);

}  // namespace serve
