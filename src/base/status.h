#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <memory>
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
    explicit Status(int32_t code) noexcept : code_(code) {}

    bool ok() const { return code_ == 0; }
    int32_t code() const { return code_; }
    /// Without the name of the call, which the boundary puts in front. Empty on success.
    const std::string& message() const;

 private:
    int32_t code_ = 0;
    std::unique_ptr<const std::string> message_;
};

template <typename... Args>
Status Error(int32_t code, fmt::format_string<Args...> format, Args&&... args) {
    return Status(code, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace advstep

#define ADVSTEP_RETURN_IF_ERROR(expression)                                        \
    do {                                                                           \
        if (::advstep::Status advstepStatus = (expression); !advstepStatus.ok()) { \
            return advstepStatus;                                                  \
        }                                                                          \
    } while (false)
