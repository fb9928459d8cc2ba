#pragma once

#include <exception>

#include "src/base/boundary.h"
#include "src/base/log.h"
#include "src/runtime/stream/current.h"

namespace advstep {

/// Calls user code in the middle of an acl call or of a task: with the stream's context current,
/// and so that the thread's context, message and last error are afterwards what they were. What it
/// throws goes to the log; neither the call nor the task is undone.
template <typename Call>
void RunUserCallback(const char* name, const ContextRef& context, Call&& call) noexcept {
    const KeepErrors keepErrors;
    const KeepCurrentContext keepContext(context);
    const auto log = [name](const char* what) {
        Log(LogLevel::kError, "{} threw an exception: {}", name, what);
    };
    try {
        call();
    } catch (const std::exception& error) {
        log(error.what());
    } catch (...) {
        log("not a std::exception");
    }
}

}  // namespace advstep
