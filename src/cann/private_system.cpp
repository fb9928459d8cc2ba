// SPDX-License-Identifier: Apache-2.0
// Small functions of CANN's private headers: the calling process (libmmpa), lines of the log
// (libascendalog, libunified_dlog), and objects that clients ask for while they are loaded.

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <map>

#include "acl/acl.h"
#include "src/advstep/client_log.h"
#include "src/cann/bound_refusal.h"

namespace {

aclLogLevel LevelOf(int level) {
    return level < ACL_DEBUG || level > ACL_ERROR ? ACL_INFO : static_cast<aclLogLevel>(level);
}

}  // namespace

extern "C" {

ADVSTEP_API int32_t mmGetTid(void) { return static_cast<int32_t>(syscall(SYS_gettid)); }

ADVSTEP_API int32_t mmGetPid(void) { return static_cast<int32_t>(getpid()); }

ADVSTEP_API int32_t mmGetErrorCode(void) { return errno; }

// Levels are those of aclAppLog; others, such as that of events, are written as information.
ADVSTEP_API int32_t CheckLogLevel(int32_t, int32_t level) {
    return advstepLogEnabled(LevelOf(level));
}

ADVSTEP_API void DlogRecord(int32_t module, int32_t level, const char* format, ...) {
    constexpr size_t kMostBytes = 1024;
    if (format == nullptr || advstepLogEnabled(LevelOf(level)) == 0) {
        return;
    }
    char text[kMostBytes];
    std::va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length >= 0) {
        aclAppLog(LevelOf(level), "DlogRecord", "module", static_cast<uint32_t>(module), "%s",
                  text);
    }
}

// ErrorManager::GetInstance(): clients have no more than its address.
ADVSTEP_API void* _ZN12ErrorManager11GetInstanceEv(void) {
    alignas(64) static unsigned char manager[4096];
    return manager;
}

// ErrorManager::GetLogHeader(): a text for the head of a line, which is empty. A program of another
// layout of std::string binds another name.
ADVSTEP_API const void* _ZN12ErrorManager12GetLogHeaderEv(void*) {
    static const char* const header = advstep::cann::EmptyOldText();
    return &header;
}

// ge::StatusFactory::Instance(): clients put texts of codes into the map that it begins with.
// Nobody reads them here, and a client's texts are the client's: the map is never destroyed.
ADVSTEP_API void* _ZN2ge13StatusFactory8InstanceEv(void) {
    struct Factory {
        std::map<uint32_t, void*> texts;
        unsigned char rest[1024];
    };
    static auto* const factory = new Factory();
    return factory;
}

}  // extern "C"
