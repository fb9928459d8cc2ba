// SPDX-License-Identifier: Apache-2.0
/// The outcome of a check: success, or a code and a message. Part of operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_STATUS_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_STATUS_HPP_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "aclnn/acl_meta.h"

namespace advance_step::op {

/// The code for a wrong dtype, format or layout.
inline constexpr int32_t kParamInvalid = ACLNN_ERR_PARAM_INVALID;
/// The code for a shape or an attribute that is out of its range.
inline constexpr int32_t kTilingError = ACLNN_ERR_INNER_TILING_ERROR;

/// The outcome of a check: success, or a code of aclnn/acl_meta.h with a message `<argument> <what
/// it is>; expected <rule>`. A success allocates nothing.
class [[nodiscard]] Status {
 public:
    /// A success.
    Status() = default;
    /// A failure; `code` is not 0.
    Status(int32_t code, std::string message) : failure_(new Failure{code, std::move(message)}) {}

    /// Returns whether this is a success.
    bool ok() const { return failure_ == nullptr; }
    /// Returns the code; 0 for a success.
    int32_t code() const { return failure_ == nullptr ? 0 : failure_->code; }
    /// Returns the message; empty for a success.
    const char* message() const { return failure_ == nullptr ? "" : failure_->message.c_str(); }

 private:
    struct Failure {
        int32_t code;
        std::string message;
    };

    std::unique_ptr<Failure> failure_;
};

/// @cond Inner parts.
namespace detail {

// The functions use no streams, because streams write numbers by the program's locale.
inline void Append(std::string* text, std::string_view part) { text->append(part); }
inline void Append(std::string* text, double part) {
    char digits[40];
    const int length = std::snprintf(digits, sizeof(digits), "%.9g", part);
    text->append(digits, static_cast<size_t>(length));
}
template <typename Integer, typename = std::enable_if_t<std::is_integral_v<Integer>>>
void Append(std::string* text, Integer part) {
    text->append(std::to_string(part));
}

}  // namespace detail
/// @endcond

/// Returns the parts, which are strings and numbers, one after the other as text.
template <typename... Parts>
std::string Text(const Parts&... parts) {
    std::string text;
    (detail::Append(&text, parts), ...);
    return text;
}

/// Returns a failure whose message is Text(parts...), for instance Error(kTilingError, "rows is ",
/// rows, "; expected 1").
template <typename... Parts>
Status Error(int32_t code, const Parts&... parts) {
    return Status(code, Text(parts...));
}

}  // namespace advance_step::op

/// Evaluates an expression of type Status. If it is a failure, the function that contains the macro
/// returns it.
#define ADVSTEP_OP_RETURN_IF_ERROR(expression)                     \
    do {                                                           \
        ::advance_step::op::Status advstepOpStatus = (expression); \
        if (__builtin_expect(!advstepOpStatus.ok(), 0)) {          \
            return advstepOpStatus;                                \
        }                                                          \
    } while (false)

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_STATUS_HPP_
