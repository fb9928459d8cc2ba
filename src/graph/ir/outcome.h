// SPDX-License-Identifier: Apache-2.0
// The outcome of an internal call of graph mode: a status and a message.

#pragma once

#include <fmt/core.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "ge/ge_api_error_codes.h"
#include "src/base/thread_exit.h"

namespace advstep::graph {

/// A kind of failure. Messages begin with its title and code.
struct ErrorKind {
    const char* title;
    const char* code;
};

inline constexpr ErrorKind kBadOption = {"Invalid_Option", "E10059"};
inline constexpr ErrorKind kBadSession = {"Invalid_Session_Or_Graph", "E10062"};
inline constexpr ErrorKind kUnlinkedInput = {"Unlinked_Input", "E11019"};
inline constexpr ErrorKind kDuplicateName = {"Duplicate_Operator_Name", "E13009"};
inline constexpr ErrorKind kBadTensor = {"Invalid_Input_Tensor", "E13025"};
inline constexpr ErrorKind kInnerError = {"Inner_Error", "E19999"};
inline constexpr ErrorKind kUnsupported = {"Unsupported_Operator", "EZ3003"};

/// The status of runs of an unknown graph.
inline constexpr ge::Status kUnknownGraph = 1343242242;

/// Success, or a code with a message. A success allocates nothing.
class [[nodiscard]] Outcome {
 public:
    Outcome() = default;
    Outcome(ge::Status status, const ErrorKind& kind, std::string text)
        : status_(status), kind_(kind), text_(std::move(text)) {}

    /// A failure that says so without any memory.
    static Outcome OutOfMemory() noexcept {
        Outcome outcome;
        outcome.status_ = ge::FAILED;
        outcome.fixedText_ = "the host is out of memory";
        return outcome;
    }

    bool ok() const { return status_ == ge::SUCCESS; }
    ge::Status status() const { return status_; }
    const ErrorKind& kind() const { return kind_; }
    /// Returns the message without the name of the call, which ReportError adds.
    std::string_view text() const {
        return fixedText_ != nullptr ? std::string_view(fixedText_) : std::string_view(text_);
    }

 private:
    ge::Status status_ = ge::SUCCESS;
    ErrorKind kind_ = kInnerError;
    const char* fixedText_ = nullptr;  // in place of text_
    std::string text_;
};

template <typename... Args>
Outcome Fail(const ErrorKind& kind, fmt::format_string<Args...> format, Args&&... args) {
    return {ge::FAILED, kind, fmt::format(format, std::forward<Args>(args)...)};
}

/// Returns the Outcome of body(), or an Outcome made of the exception that it threw, or of a
/// pthread_exit. The caller may have to put things right after a failure, so a lack of memory for a
/// message is no exception.
template <typename Body>
Outcome Catch(Body&& body) noexcept {
    try {
        try {
            return body();
        } catch (const std::bad_alloc&) {
            return Outcome::OutOfMemory();
        } catch (const std::exception& error) {
            return {ge::FAILED, kInnerError, error.what()};
        } catch (...) {
            return {ge::FAILED, kInnerError,
                    StopThreadExit()
                        ? "a function of an operator called pthread_exit; expected it to return"
                        : "unknown exception"};
        }
    } catch (...) {
        return Outcome::OutOfMemory();
    }
}

}  // namespace advstep::graph

#define ADVSTEP_GRAPH_RETURN_IF_ERROR(expression)                                            \
    do {                                                                                     \
        if (::advstep::graph::Outcome advstepOutcome = (expression); !advstepOutcome.ok()) { \
            return advstepOutcome;                                                           \
        }                                                                                    \
    } while (false)
