// SPDX-License-Identifier: Apache-2.0
// Copies and fills: their checks, their execution and their task records.

#pragma once

#include <cstddef>

#include "acl/acl_rt.h"
#include "src/base/status.h"
#include "src/runtime/memory/device_memory.h"
#include "src/runtime/task/task.h"

namespace advstep {

/// A copy of one row of `count` bytes, or of several at their pitches.
struct CopyRequest {
    void* dst = nullptr;
    size_t destMax = 0;
    const void* src = nullptr;
    size_t count = 0;
    aclrtMemcpyKind kind = ACL_MEMCPY_DEFAULT;
    size_t rows = 1;
    size_t dpitch = 0;  // from row to row; a single row needs none
    size_t spitch = 0;

    bool Empty() const { return count == 0 || rows == 0; }
};

/// The kinds of memory that a checked copy touches.
struct CopySides {
    bool touchesDevice = false;
    bool pageable = false;           // a host side that is not pinned
    bool pageableDst = false;        // dst is such a side
    const Device* device = nullptr;  // a device whose memory is touched; null: none
    bool severalDevices = false;     // memory of more than one device is touched

    void Touch(const Device* touched) {
        severalDevices = severalDevices || (device != nullptr && device != touched);
        device = touched;
    }
    /// Returns whether memory of a device other than `own` is touched.
    bool ForeignTo(const Device* own) const {
        return severalDevices || (device != nullptr && device != own);
    }
};

/// 100000: an address is null, or the kind is unknown.
Status CheckCopyArguments(const CopyRequest& request);

/// 107000: the rows are longer than their pitch. Not called for a single row without pitches.
Status CheckPitches(const CopyRequest& request);

/// 107000: `count` exceeds `destMax`, a range is not inside its allocation, or a side that the kind
/// puts on the device is no device memory. The arguments and pitches have been checked.
Status CheckCopyRanges(const DeviceMemory& memory, const CopyRequest& request, CopySides* sides);

/// 207000: the copy is from host to host, by its kind or by its addresses. The ranges have been
/// checked.
Status RefuseHostToHost(const CopyRequest& request, const CopySides& sides);

/// 107000: the range is not inside one allocation of device or pinned memory. `argument` is the
/// name of the argument that has the address.
Status CheckFill(const DeviceMemory& memory, const void* address, const char* argument,
                 size_t count, CopySides* sides);

/// Returns kHeavy for a copy that takes longer than waking a thread, and kUsual for others.
TaskLength LengthOfCopy(size_t bytes);

void CopyNow(const CopyRequest& request);
void FillNow(void* address, int32_t value, size_t count);

/// Records for a stream; Make constructs them in queued memory.
struct CopyTask : Task {
    void* dst;
    const void* src;
    size_t count;
    size_t rows;
    size_t dpitch;
    size_t spitch;

    static CopyTask* Make(void* memory, const CopyRequest& request);
};

struct FillTask : Task {
    void* address;
    int32_t value;
    size_t count;

    static FillTask* Make(void* memory, void* address, int32_t value, size_t count);
};

}  // namespace advstep
