// SPDX-License-Identifier: Apache-2.0
// The text of a report of leaks.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/base/live_objects.h"

namespace advstep {

/// Lists the objects in groups. A group has one kind, one call and one call stack; the groups with
/// the most bytes come first. `when` is the time of the report, for the text.
std::string LeakText(const char* when,
                     const std::vector<std::pair<ObjectKind, LiveObject>>& objects);

}  // namespace advstep
