// SPDX-License-Identifier: Apache-2.0
// dygraphs, as the build has found it: what a report needs to show charts that zoom.

#pragma once

#include <string>

namespace serve {

/// dygraphs with its crosshair and its synchroniser, and its licence in a comment at the top. Empty
/// if libjs-dygraphs was not installed at build time: reports have no charts.
std::string ChartLibrary();
/// Its style sheet.
std::string ChartLibraryStyle();

}  // namespace serve
