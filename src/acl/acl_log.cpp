// SPDX-License-Identifier: Apache-2.0
// Lines of the program in the log.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>

#include "acl/acl_base.h"
#include "src/base/log.h"

using namespace advstep;

namespace {

LogLevel LevelOf(aclLogLevel level) {
    switch (static_cast<int>(level)) {
        case ACL_DEBUG:
            return LogLevel::kDebug;
        case ACL_INFO:
            return LogLevel::kInfo;
        case ACL_WARNING:
            return LogLevel::kWarn;
        default:
            return LogLevel::kError;
    }
}

}  // namespace

void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line,
               const char* fmt, ...) {
    constexpr size_t kMostBytes = 1024;
    const LogLevel level = LevelOf(logLevel);
    if (func == nullptr || file == nullptr || fmt == nullptr || !LogEnabled(level)) {
        return;
    }
    char text[kMostBytes + 1];
    const auto thread = static_cast<long>(syscall(SYS_gettid));
    const int head = std::snprintf(text, sizeof(text), "%ld %s:%u: %s: ", thread, file, line, func);
    if (head >= 0 && static_cast<size_t>(head) < sizeof(text)) {
        std::va_list arguments;
        va_start(arguments, fmt);
        (void)std::vsnprintf(text + head, sizeof(text) - static_cast<size_t>(head), fmt, arguments);
        va_end(arguments);
    }
    Log(level, "{}", static_cast<const char*>(text));
}
