// SPDX-License-Identifier: Apache-2.0
// Several copies in one call, checked together and made in order.

#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "src/base/status.h"
#include "src/runtime/memory/copy.h"
#include "src/runtime/task/task.h"

namespace advstep {

/// The arguments of a batch of copies, as the caller gave them.
struct CopyBatch {
    void* const* dsts = nullptr;
    const size_t* destMaxs = nullptr;
    void* const* srcs = nullptr;
    const size_t* sizes = nullptr;
    size_t count = 0;
    const aclrtMemcpyBatchAttr* attrs = nullptr;
    const size_t* attrsIndexes = nullptr;
    size_t attrCount = 0;
};

/// An index that no copy has: the failure concerns the call as a whole.
inline constexpr size_t kNoBatch = SIZE_MAX;

/// 100000: an array is null. 107000: the attributes do not govern every copy once, in order, or a
/// location is of an unknown type.
Status CheckBatchArguments(const CopyBatch& batch);

/// Checks every copy as CheckCopyRanges does, and its addresses against its attribute; with
/// `inStream` also as RefuseHostToHost does. *wrong becomes the index of the copy that fails. The
/// arguments have been checked.
Status CheckBatchCopies(const DeviceMemory& memory, const CopyBatch& batch, bool inStream,
                        CopySides* sides, size_t* wrong);

void CopyBatchNow(const CopyBatch& batch);

/// A record for a stream with all copies of a batch, so that they are one task.
struct CopyBatchTask : Task {
    struct Copy {
        void* dst;
        const void* src;
        size_t count;
    };
    size_t count;  // of copies, which follow the record

    /// Computes the bytes of the record. 107000: there are more copies than a record can have.
    static Status Bytes(const CopyBatch& batch, size_t* bytes);
    static CopyBatchTask* Make(void* memory, const CopyBatch& batch);
};

}  // namespace advstep
