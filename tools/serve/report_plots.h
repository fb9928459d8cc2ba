// SPDX-License-Identifier: Apache-2.0
// The charts of a report: which numbers of a run, or of two runs, stand in which chart.

#pragma once

#include <string>
#include <vector>

#include "report_chart.h"
#include "run_report.h"

namespace serve {

/// In the order of the page.
std::vector<Plot> PlotsOf(const ReportData& data);

}  // namespace serve
