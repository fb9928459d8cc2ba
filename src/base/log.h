// SPDX-License-Identifier: Apache-2.0
// The log: a level, and lines to standard error.

#pragma once

#include <fmt/core.h>

#include <exception>
#include <string_view>

namespace advstep {

enum class LogLevel { kOff = -1, kError = 0, kWarn = 1, kInfo = 2, kDebug = 3 };

void SetLogLevel(LogLevel level);
bool LogEnabled(LogLevel level);

/// Writes one line to standard error by one call, so that the lines of several threads do not mix.
void LogLine(LogLevel level, std::string_view text);

/// Formats and writes a line. It writes nothing if memory is short.
template <typename... Args>
void Log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) noexcept {
    if (LogEnabled(level)) {
        try {
            LogLine(level, fmt::format(format, std::forward<Args>(args)...));
        } catch (const std::exception&) {
        }
    }
}

}  // namespace advstep
