// SPDX-License-Identifier: Apache-2.0
// The outcome of an internal call: a code, and a message on failure.

#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <utility>

#include "advance_step/operator/status.hpp"

namespace advstep {

/// The outcome of a call: a code of acl_base.h or acl_meta.h, and for a failure a message with the
/// value of an argument and the values that were expected. A success allocates nothing.
class [[nodiscard]] Status {
 public:
    Status() = default;
    Status(int32_t code, std::string message);
    /// A failure without a message of its own, for use when memory is short.
    explicit Status(int32_t code) noexcept : word_(WordOf(code)) {}
    /// Converts the outcome of a check of the operator interface.
    // NOLINTNEXTLINE(google-explicit-constructor): both classes mean the same
    Status(const advance_step::op::Status& checked) {
        if (__builtin_expect(!checked.ok(), 0)) {
            *this = Status(checked.code(), checked.message());
        }
    }
    Status(Status&& other) noexcept : word_(std::exchange(other.word_, 0)) {}
    Status& operator=(Status&& other) noexcept {
        std::swap(word_, other.word_);
        return *this;
    }
    ~Status() {
        if (word_ != 0) {
            Forget();
        }
    }

    bool ok() const { return word_ == 0; }
    int32_t code() const;
    /// Returns the message without the name of the call, which the boundary adds. It is empty for a
    /// success.
    const std::string& message() const;

 private:
    struct Failure;

    static uintptr_t WordOf(int32_t code) {
        return code == 0 ? 0 : uintptr_t{static_cast<uint32_t>(code)} << 1 | 1;
    }
    void Forget() noexcept;

    // 0: a success; odd: a code without a message; even: the address of a Failure. It is one word,
    // so that a success costs one store and one test.
    uintptr_t word_ = 0;
};

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
