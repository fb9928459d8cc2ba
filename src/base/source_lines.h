// SPDX-License-Identifier: Apache-2.0
// Finds the source lines of calls by a tool of the machine.

#pragma once

#include <string>
#include <vector>

namespace advstep {

/// What debug information and the table of symbols of a file say of an address. A text is empty if
/// they say nothing.
struct SourcePlace {
    std::string function;  // demangled; also that of a static function
    std::string line;      // "FILE:LINE", and ", in FILE:LINE" of a function that is inlined there
};

/// Switches the lookup on or off. It is on from the start, unless the environment says otherwise.
void SetSourceLines(bool on) noexcept;

/// Looks up addresses of code by llvm-symbolizer or addr2line, whichever PATH has first in this
/// order. Each file that the addresses belong to is one run of the tool, and what is known is kept.
/// All runs of a process take at most five seconds together; after these, and if there is no tool,
/// nothing more is found. A program with other rights than its caller runs no tool.
///
/// It starts a process, so a signal handler must not call it.
std::vector<SourcePlace> FindSourcePlaces(const std::vector<const void*>& addresses);

}  // namespace advstep
