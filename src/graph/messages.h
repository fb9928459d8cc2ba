#pragma once

#include <string>

#include "src/graph/outcome.h"

namespace advstep::graph {

/// Keeps a failure for the calling thread's GEGetErrorMsgV2, as `Title(Code): call: text`, and
/// returns its status. Success keeps nothing.
ge::Status ReportError(const char* call, const Outcome& outcome) noexcept;
void ReportWarning(const std::string& line);

/// The thread's messages, a line each, and forgets them.
std::string TakeErrors();
std::string TakeWarnings();

/// Body of a call of the interface.
template <typename Body>
ge::Status Boundary(const char* call, Body&& body) noexcept {
    try {
        return ReportError(call, Catch(body));
    } catch (...) {  // no memory for the message of an exception
        return ge::FAILED;
    }
}

}  // namespace advstep::graph
