// SPDX-License-Identifier: Apache-2.0
// Calls a callback of the program with the stream's context current.

#pragma once

#include <exception>

#include "src/base/boundary.h"
#include "src/base/log.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/stream/current.h"

namespace advstep {

/// Calls user code in the middle of an acl call or of a task. The stream's context is current
/// during the call. The thread's context, message and last error are the same after it as before.
/// An exception of the code is logged; neither the acl call nor the task is undone.
template <typename Call>
void RunUserCallback(const char* name, const ContextRef& context, Call&& call) noexcept {
    const NoCancellation noCancellation;
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
        log(WordCaught("not a std::exception"));
    }
}

}  // namespace advstep
