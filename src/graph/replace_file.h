// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all.

#pragma once

#include <string>

#include "src/graph/outcome.h"

namespace advstep::graph {

/// Refuses null, the empty path, and what exists and is no regular file.
Outcome CheckFile(const char* file);

/// Writes a neighbour of the file and renames it, so that a failure leaves the file as it was.
Outcome ReplaceFile(const std::string& path, const std::string& bytes);

}  // namespace advstep::graph
