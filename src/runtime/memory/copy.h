// SPDX-License-Identifier: Apache-2.0
// Copies and fills, single ones and batches: their checks, their execution and their task records.

#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "src/base/status.h"
#include "src/runtime/memory/device_memory.h"
#include "src/runtime/task/recorder.h"
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
    bool kindDecides = false;  // the kind says where the sides are, and not their addresses

    bool Empty() const { return count == 0 || rows == 0; }
};

/// The kinds of memory that a checked copy touches.
struct CopySides {
    bool deviceSide = false;         // a side is on a device
    bool pageable = false;           // a host side that is not pinned
    bool pageableDst = false;        // dst is such a side
    const Device* device = nullptr;  // a device whose memory is touched; null: none
    bool severalDevices = false;     // memory of more than one device is touched

    void Touch(const Device* touched) {
        severalDevices = severalDevices || (device != nullptr && device != touched);
        device = touched;
    }
    /// Returns whether the same kinds of memory, of the same devices, are touched.
    bool IsSame(const CopySides& other) const {
        return deviceSide == other.deviceSide && pageable == other.pageable &&
               pageableDst == other.pageableDst && device == other.device &&
               severalDevices == other.severalDevices;
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

/// 107000: `count` exceeds `destMax`, or a range is not inside its allocation. A side that the kind
/// calls device memory lies in no allocation, and is not host memory beyond doubt; with kindDecides
/// it is no device memory. The arguments and pitches have been checked.
Status CheckCopyRanges(const DeviceMemory& memory, const CopyRequest& request, CopySides* sides);

/// 207000: the copy is from host to host, by its addresses; with kindDecides, by its kind. The
/// ranges have been checked.
Status RefuseHostToHost(const CopyRequest& request, const CopySides& sides);

/// 107000: between the check and the queueing of a copy or fill, another thread freed memory that
/// it touches, so that it would touch memory of another kind or device now.
Status RefuseOther(const CopySides& checked, const CopySides& now);
/// The same for work of which it is known only whether memory is another device's.
Status RefuseOther(bool foreign, bool foreignNow);

/// Holds what a copy or fill on the calling thread touches, from before its ranges are checked
/// until the bytes have been moved. Memory that another thread frees meanwhile stays until then.
/// What a batch touches is in the caller's arrays, so it holds all memory.
MemoryHold HoldFor(const CopyRequest& request);
MemoryHold HoldForFill(const void* address, size_t count);
MemoryHold HoldForBatch();

/// 107000: the range is not inside one allocation of device or pinned memory. `argument` is the
/// name of the argument that has the address.
Status CheckFill(const DeviceMemory& memory, const void* address, const char* argument,
                 size_t count, CopySides* sides);

/// Returns kHeavy for a copy that takes longer than waking a thread, and kUsual for others.
TaskLength LengthOfCopy(size_t bytes);

void CopyNow(const CopyRequest& request);
void FillNow(void* address, int32_t value, size_t count);
/// The address is a multiple of 4.
void FillWordsNow(void* address, uint32_t value, size_t words);

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
    /// The address is a multiple of 4.
    static FillTask* MakeOfWords(void* memory, void* address, uint32_t value, size_t words);
};

/// Several copies in one call, which are checked together and made in order: the arguments as the
/// caller gave them.
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
inline constexpr size_t kNoCopyIndex = SIZE_MAX;

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

/// Return copies and fills as a stream receives them, with the memory that a replay has to find
/// again. The results refer to their argument. `device` is the stream's device. Captures refuse a
/// copy with a pageable side: 107000.
Work WorkOf(const CopyRequest& request, const CopySides& sides, const Device* device);
Work WorkOf(const CopyBatch& batch, size_t recordBytes, const CopySides& sides,
            const Device* device);

/// Lists the two sides of a copy, the destination first.
void ListUses(const CopyRequest& copy, std::vector<Use>* uses);

struct FillRange {
    const void* address;
    size_t count;
    bool foreign;  // memory of another device than the stream's
};
Work WorkOf(const FillRange& range);

}  // namespace advstep
