// SPDX-License-Identifier: Apache-2.0
// The outcome of an internal call: the public Status of operators, with messages by {fmt}.

#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <utility>

#include "advance_step/operator/status.hpp"

namespace advstep {

using Status = advance_step::op::Status;

/// Makes a failure with a message. It is cold, so that calls that succeed neither jump over its
/// code nor save registers for it.
template <typename... Args>
[[gnu::cold, gnu::noinline]] Status Error(int32_t code, fmt::format_string<Args...> format,
                                          Args&&... args) {
    return Status(code, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace advstep

#define ADVSTEP_RETURN_IF_ERROR(expression)             \
    do {                                                \
        ::advstep::Status advstepStatus = (expression); \
        if (__builtin_expect(!advstepStatus.ok(), 0)) { \
            return advstepStatus;                       \
        }                                               \
    } while (false)
