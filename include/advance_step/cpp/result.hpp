// SPDX-License-Identifier: Apache-2.0
/// Errors of the C++ interface, as exceptions and as results. Part of advance_step.hpp.
#ifndef ADVSTEP_ADVANCE_STEP_CPP_RESULT_HPP_
#define ADVSTEP_ADVANCE_STEP_CPP_RESULT_HPP_

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include "acl/acl_base.h"

/// 1 if exceptions are enabled; the throwing forms exist only then.
#if defined(__cpp_exceptions)
#define ADVSTEP_CPP_EXCEPTIONS 1
#else
#define ADVSTEP_CPP_EXCEPTIONS 0
#endif

namespace advance_step {

/// The code and the message of a call that failed.
class Error : public std::runtime_error {
 public:
    /// @param[in] code     the code of the C call, not 0
    /// @param[in] message  the text that what() returns
    Error(int code, const char* message) : std::runtime_error(message), code_(code) {}

    /// The code that the C call returned; docs/errors.md explains it.
    int Code() const noexcept { return code_; }

 private:
    int code_;
};

/// A T, or the Error of the call that should have made it. Members have the names of std::expected.
template <class T>
class [[nodiscard]] Result {
 public:
    /// A success.
    Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
    /// A failure.
    Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

    /// Returns whether there is a T.
    bool has_value() const noexcept { return content_.index() == 0; }
    /// As has_value().
    explicit operator bool() const noexcept { return has_value(); }

    /// The T of a success; undefined for a failure.
    T& operator*() & noexcept { return *std::get_if<0>(&content_); }
    /// The T of a constant result.
    const T& operator*() const& noexcept { return *std::get_if<0>(&content_); }
    /// The T as an rvalue.
    T&& operator*() && noexcept { return std::move(*std::get_if<0>(&content_)); }
    /// Members of the T of a success; undefined for a failure.
    T* operator->() noexcept { return std::get_if<0>(&content_); }
    /// Members of the T of a constant result.
    const T* operator->() const noexcept { return std::get_if<0>(&content_); }

    /// The Error of a failure; undefined for a success.
    const Error& error() const noexcept { return *std::get_if<1>(&content_); }

#if ADVSTEP_CPP_EXCEPTIONS
    /// The T of a success. @throws Error  the Error of a failure
    T& value() & { return Checked(), **this; }
    /// The T as an rvalue. @throws Error  the Error of a failure
    T&& value() && { return Checked(), *std::move(*this); }
#endif

 private:
#if ADVSTEP_CPP_EXCEPTIONS
    void Checked() const {
        if (!has_value()) {
            throw Error(error());
        }
    }
#endif
    std::variant<T, Error> content_;
};

/// Success, or the Error of a failed call.
template <>
class [[nodiscard]] Result<void> {
 public:
    /// A success.
    Result() noexcept = default;
    /// A failure.
    Result(Error error) : error_(std::move(error)) {}

    /// Returns whether this is a success.
    bool has_value() const noexcept { return !error_.has_value(); }
    /// As has_value().
    explicit operator bool() const noexcept { return has_value(); }
    /// The Error of a failure; undefined for a success.
    const Error& error() const noexcept { return *error_; }

#if ADVSTEP_CPP_EXCEPTIONS
    /// Does nothing for a success. @throws Error  the Error of a failure
    void value() const {
        if (error_) {
            throw Error(*error_);
        }
    }
#endif

 private:
    std::optional<Error> error_;
};

/// Helpers of the header itself.
namespace detail {

/// Makes an Error of a code and the thread's most recent message. It is out of line, so that calls
/// that succeed stay short.
[[gnu::cold, gnu::noinline]] inline Error LastError(int code) {
    const char* message = aclGetRecentErrMsg();
    return Error(code, message != nullptr ? message : "no message");
}

/// Makes a result of the code of a C call.
inline Result<void> ToResult(int code) {
    return code == ACL_SUCCESS ? Result<void>() : Result<void>(LastError(code));
}

/// Makes a result of the code of a C call and its value.
template <class T>
Result<T> ToResult(int code, T value) {
    return code == ACL_SUCCESS ? Result<T>(std::move(value)) : Result<T>(LastError(code));
}

/// Destroys a handle with its C call.
template <auto Destroy>
struct Destroyer {
    /// Ignores the code that the call returns.
    template <class Handle>
    void operator()(Handle* handle) const noexcept {
        static_cast<void>(Destroy(handle));
    }
};

/// An owned handle. It is as large as the handle itself.
template <class Handle, auto Destroy>
using Owned = std::unique_ptr<Handle, Destroyer<Destroy>>;

}  // namespace detail
}  // namespace advance_step

#endif  /* ADVSTEP_ADVANCE_STEP_CPP_RESULT_HPP_ */
