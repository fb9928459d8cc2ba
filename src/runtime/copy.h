#pragma once

#include <cstddef>

#include "acl/acl_rt.h"
#include "src/base/status.h"
#include "src/runtime/device_memory.h"
#include "src/runtime/task.h"

namespace advstep {

struct CopyRequest {
    void* dst = nullptr;
    size_t destMax = 0;
    const void* src = nullptr;
    size_t count = 0;
    aclrtMemcpyKind kind = ACL_MEMCPY_DEFAULT;
};

/// What a checked copy touches.
struct CopySides {
    bool touchesDevice = false;
    bool pageable = false;  // a host side that is not pinned
};

/// Nulls and kind: 100000.
Status CheckCopyArguments(const CopyRequest& request);

/// destMax, and ranges outside their allocation: 107000. The arguments have been checked.
Status CheckCopyRanges(const DeviceMemory& memory, const CopyRequest& request, CopySides* sides);

/// count > maxCount, or a range that is not inside one allocation of device or pinned memory:
/// 107000.
Status CheckFill(const DeviceMemory& memory, const void* address, size_t maxCount, size_t count);

void CopyNow(const CopyRequest& request);

/// Records for a stream; Make constructs them in queued memory.
struct CopyTask : Task {
    void* dst;
    const void* src;
    size_t count;

    static CopyTask* Make(void* memory, const CopyRequest& request);
};

struct FillTask : Task {
    void* address;
    int32_t value;
    size_t count;

    static FillTask* Make(void* memory, void* address, int32_t value, size_t count);
};

}  // namespace advstep
