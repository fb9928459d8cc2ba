// SPDX-License-Identifier: Apache-2.0
// The outcome of a call or of an operator, and the boundary of a call.

#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "hccl/hccl_types.h"
#include "src/base/no_cancellation.h"

namespace advstep::hccl {

/// Joins texts and numbers.
template <typename... Parts>
std::string Text(const Parts&... parts) {
    std::string text;
    const auto add = [&text](const auto& part) {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(part)>>) {
            text += std::to_string(part);
        } else {
            text += part;
        }
    };
    (add(parts), ...);
    return text;
}

/// A code and its message; HCCL_SUCCESS has none.
struct [[nodiscard]] Outcome {
    HcclResult code = HCCL_SUCCESS;
    std::string message;

    bool ok() const { return code == HCCL_SUCCESS; }
};

template <typename... Parts>
Outcome Error(HcclResult code, const Parts&... parts) {
    return {code, Text(parts...)};
}

/// HCCL_E_PTR: the argument is null.
inline Outcome Null(const char* argument) {
    return {HCCL_E_PTR, Text(argument, " is null; expected a pointer")};
}

/// Returns "HCCL_E_PARA" and the like, or a text that says that the code is unknown.
const char* NameOf(HcclResult code) noexcept;

/// Leaves the failure of a call for aclGetRecentErrMsg, and returns its code.
HcclResult RecordOutcome(const char* call, HcclResult code, const char* message) noexcept;

/// Runs `body`, which returns an Outcome, and records its failure or exception for `call`. All that
/// the calls of this library wait for is inside, so pthread_cancel takes effect behind them.
template <typename Body>
HcclResult Boundary(const char* call, Body&& body) noexcept {
    const NoCancellation noCancellation;
    try {
        const Outcome outcome = std::forward<Body>(body)();
        return outcome.ok() ? HCCL_SUCCESS
                            : RecordOutcome(call, outcome.code, outcome.message.c_str());
    } catch (const std::bad_alloc&) {
        return RecordOutcome(call, HCCL_E_MEMORY, "the host is out of memory");
    } catch (const std::exception& error) {
        return RecordOutcome(call, HCCL_E_INTERNAL, error.what());
    }
}

}  // namespace advstep::hccl

/// Returns the outcome of an expression from the function if it is a failure.
#define ADVSTEP_HCCL_TRY(expression)                            \
    do {                                                        \
        ::advstep::hccl::Outcome advstepOutcome = (expression); \
        if (!advstepOutcome.ok()) {                             \
            return advstepOutcome;                              \
        }                                                       \
    } while (false)
