// SPDX-License-Identifier: Apache-2.0
/// Lines that a program writes to the log of the runtime.
#ifndef ADVSTEP_ACL_BASE_LOG_H_
#define ADVSTEP_ACL_BASE_LOG_H_

#include "acl/base/core.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { ACL_DEBUG = 0, ACL_INFO = 1, ACL_WARNING = 2, ACL_ERROR = 3 } aclLogLevel;

/// Writes a line to the log (setting ADVANCE_STEP_LOG): the thread's number, file, line, func and
/// the text, cut at 1024 bytes together. The call writes nothing if func, file or fmt is NULL.
/// @param[in] fmt  a format of printf; its arguments follow it
ADVSTEP_API void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line,
                           const char* fmt, ...);

/// Calls aclAppLog with the place of the macro. The format and its arguments follow the level.
#define ACL_APP_LOG(level, ...) \
    aclAppLog(level, __func__, __FILE__, (uint32_t)__LINE__, __VA_ARGS__)

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_BASE_LOG_H_ */
