// SPDX-License-Identifier: Apache-2.0
/// The outcome of a call or a check: success, or a code and a message. Part of operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_STATUS_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_STATUS_HPP_

#include <cstdint>
#include <cstdio>
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

/// The outcome of a call or a check: success, or a code of acl/acl_base.h or aclnn/acl_meta.h with
/// a message `<argument> <what it is>; expected <rule>`. A success allocates nothing.
class [[nodiscard]] Status {
 public:
    /// A success.
    Status() = default;
    /// A failure; 0 is a success.
    Status(int32_t code, std::string message) {
        if (code != 0) {
            word_ = reinterpret_cast<uintptr_t>(new Failure{code, std::move(message)});
        }
    }
    /// A failure without a message of its own, for use when memory is short.
    explicit Status(int32_t code) noexcept
        : word_(code == 0 ? 0 : uintptr_t{static_cast<uint32_t>(code)} << 1 | 1) {}
    /// Takes the other's outcome, which becomes a success.
    Status(Status&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
    /// Exchanges the outcomes.
    Status& operator=(Status&& other) noexcept {
        std::swap(word_, other.word_);
        return *this;
    }
    /// Frees the message.
    ~Status() {
        if (word_ != 0) {
            Forget();
        }
    }

    /// Returns whether this is a success.
    bool ok() const { return word_ == 0; }
    /// Returns the code; 0 for a success.
    int32_t code() const {
        return HasMessage() ? failure()->code
                            : static_cast<int32_t>(static_cast<uint32_t>(word_ >> 1));
    }
    /// Returns the message without the name of the call, which the caller adds; empty for a
    /// success.
    const char* message() const {
        if (HasMessage()) {
            return failure()->message.c_str();
        }
        return ok() ? "" : "no memory was left to say more";
    }

 private:
    struct Failure {
        int32_t code;
        std::string message;
    };

    bool HasMessage() const { return word_ != 0 && (word_ & 1) == 0; }
    Failure* failure() const { return reinterpret_cast<Failure*>(word_); }
#if defined(__GNUC__)
    __attribute__((cold, noinline))
#endif
    void
    Forget() noexcept {
        if (HasMessage()) {
            delete failure();
        }
    }

    // 0: a success; odd: a code without a message; even: the address of a Failure. It is one word,
    // so that a success costs one store and one test.
    uintptr_t word_ = 0;
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
