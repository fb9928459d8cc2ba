// SPDX-License-Identifier: Apache-2.0
// Files that are written as a whole or not at all.

#pragma once

#include <string>

#include "src/graph/ir/messages.h"

namespace advstep::graph {

/// Replaces what a regular file has, or makes the file; a path may be a symbolic link to it. The
/// file keeps its mode, and its owner if the process may give files away. After a failure it is as
/// it was, with nothing beside it. A process that is killed in the call leaves nothing beside it
/// either, where the file system has files without a name.
Outcome ReplaceFile(const std::string& path, const std::string& bytes);

}  // namespace advstep::graph
