#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "src/base/status.h"
#include "src/runtime/memory/copy.h"
#include "src/runtime/task/task.h"

namespace advstep {

/// The arguments of a batch of copies, as the caller has them.
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

/// No index of a batch: the failure is of the call as a whole.
inline constexpr size_t kNoBatch = SIZE_MAX;

/// Null arrays: 100000. Attributes that do not govern every batch once, in order: 107000.
Status CheckBatchArguments(const CopyBatch& batch);

/// Every copy, as CheckCopyRanges does it, and its places against its attribute; with `inStream`
/// also RefuseHostToHost. `wrong` is the index of the one that fails. The arguments have been
/// checked.
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
    size_t count;  // of copies, which follow

    /// Bytes of the record; 107000: more copies than a record can have.
    static Status Bytes(const CopyBatch& batch, size_t* bytes);
    static CopyBatchTask* Make(void* memory, const CopyBatch& batch);
};

}  // namespace advstep
