// SPDX-License-Identifier: Apache-2.0
// The Msprof* functions of CANN's private headers: reports to a profiler, which records nothing.

#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"

extern "C" {

ADVSTEP_API uint64_t MsprofSysCycleTime(void) { return 0; }

ADVSTEP_API uint64_t MsprofGetHashId(const char*, size_t) { return 0; }

ADVSTEP_API uint64_t MsprofStr2Id(const char*, size_t) { return 0; }

// A client registers a function that starts and stops its profiling. It is never called.
ADVSTEP_API int32_t MsprofRegisterCallback(uint32_t, int32_t (*)(uint32_t, void*, uint32_t)) {
    return 0;
}

ADVSTEP_API int32_t MsprofReportApi(uint32_t, const void*) { return 0; }

ADVSTEP_API int32_t MsprofReportCompactInfo(uint32_t, const void*, uint32_t) { return 0; }

ADVSTEP_API int32_t MsprofReportAdditionalInfo(uint32_t, const void*, uint32_t) { return 0; }

}  // extern "C"
