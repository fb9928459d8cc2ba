// SPDX-License-Identifier: Apache-2.0
// The outcome of an internal call of the transfer engine: a status and a message.

#pragma once

#include <fmt/core.h>

#include <chrono>
#include <string>
#include <utility>

#include "adxl/adxl_types.h"

namespace advstep::transfer {

/// Success, or a code with a message without the name of the call. A success allocates nothing.
struct [[nodiscard]] Outcome {
    adxl::Status status = adxl::SUCCESS;
    std::string text;

    bool Ok() const { return status == adxl::SUCCESS; }
};

template <typename... Args>
Outcome Fail(adxl::Status status, fmt::format_string<Args...> format, Args&&... args) {
    return {status, fmt::format(format, std::forward<Args>(args)...)};
}

using Clock = std::chrono::steady_clock;

/// When a call must be over.
using Deadline = Clock::time_point;
constexpr Deadline kNoDeadline = Deadline::max();

}  // namespace advstep::transfer

#define ADVSTEP_TRANSFER_RETURN_IF_ERROR(expression)                                            \
    do {                                                                                        \
        if (::advstep::transfer::Outcome advstepOutcome = (expression); !advstepOutcome.Ok()) { \
            return advstepOutcome;                                                              \
        }                                                                                       \
    } while (false)
