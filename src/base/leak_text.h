// SPDX-License-Identifier: Apache-2.0
// The text of a report of leaks.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/base/live_objects.h"

namespace advstep {

/// Lists the objects, in groups of one kind, call and call stack, those of the most bytes first.
std::string LeakText(const char* when,
                     const std::vector<std::pair<ObjectKind, LiveObject>>& objects);

}  // namespace advstep
