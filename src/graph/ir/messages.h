// SPDX-License-Identifier: Apache-2.0
// The errors and warnings of the calling thread.

#pragma once

#include <string>

#include "src/base/no_cancellation.h"
#include "src/graph/ir/outcome.h"

namespace advstep::graph {

/// Keeps a failure for the calling thread's GEGetErrorMsgV2 as `Title(Code): call: text`, writes
/// the same line to standard error, and returns its status. A success does neither.
ge::Status ReportError(const char* call, const Outcome& outcome) noexcept;
void ReportWarning(const std::string& line);

/// Returns the thread's messages, each on a line, and removes them.
std::string TakeErrors();
std::string TakeWarnings();
/// Removes the thread's messages.
void DropMessages() noexcept;

/// The body of a public call: reports the Outcome of `body`. A pthread_cancel takes effect after
/// the call, because it would unwind this function, which ends the process.
template <typename Body>
ge::Status Boundary(const char* call, Body&& body) noexcept {
    const NoCancellation noCancellation;
    return ReportError(call, Catch(body));
}

}  // namespace advstep::graph
