#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <utility>

namespace advstep {

/// Outcome of a call: a code of acl_base.h or acl_meta.h, and on failure a message that says what
/// an argument is and what was expected. Success carries no allocation.
class [[nodiscard]] Status {
 public:
    Status() = default;
    Status(int32_t code, std::string message);
    /// A failure without words, for where there is no memory for them.
    explicit Status(int32_t code) noexcept : word_(WordOf(code)) {}
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
    /// Without the name of the call, which the boundary puts in front. Empty on success.
    const std::string& message() const;

 private:
    struct Failure;

    static uintptr_t WordOf(int32_t code) {
        return code == 0 ? 0 : uintptr_t{static_cast<uint32_t>(code)} << 1 | 1;
    }
    void Forget() noexcept;

    // 0: success; odd: a code without words; even: the address of a Failure. One word, so that a
    // success costs a store and a test.
    uintptr_t word_ = 0;
};

template <typename... Args>
Status Error(int32_t code, fmt::format_string<Args...> format, Args&&... args) {
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
