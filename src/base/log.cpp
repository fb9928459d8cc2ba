// SPDX-License-Identifier: Apache-2.0
// Keeps the log level and writes lines to standard error.

#include "src/base/log.h"

#include <atomic>
#include <cstdio>
#include <string>

#include "src/base/fork.h"
#include "src/base/no_cancellation.h"

namespace advstep {
namespace {

constexpr LogLevel kUntilTheSettingsAreRead = LogLevel::kError;

std::atomic<LogLevel> logLevel{kUntilTheSettingsAreRead};
const ForkHook forgetLogLevel([](void*) noexcept { SetLogLevel(kUntilTheSettingsAreRead); });

constexpr const char* kNames[] = {"error", "warn", "info", "debug"};

}  // namespace

void SetLogLevel(LogLevel level) { logLevel.store(level, std::memory_order_relaxed); }

bool LogEnabled(LogLevel level) { return level <= logLevel.load(std::memory_order_relaxed); }

void LogLine(LogLevel level, std::string_view text) {
    const NoCancellation noCancellation;
    const std::string line =
        fmt::format("advance_step {}: {}\n", kNames[static_cast<int>(level)], text);
    std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace advstep
