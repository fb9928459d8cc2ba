// SPDX-License-Identifier: Apache-2.0
// Copy and fill calls: immediate or in a stream, by rows and in batches.

#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/runtime/capture/capture_registry.h"
#include "src/runtime/memory/copy.h"
#include "src/runtime/memory/copy_batch.h"
#include "src/runtime/memory/copy_work.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream_ref.h"
#include "src/runtime/stream/wait_in_list.h"
#include "src/runtime/task/ticket.h"
#include "src/runtime/task/wait_limit.h"

using namespace advstep;

namespace {

const DeviceMemory& Memory() { return TheDeviceMemory(); }

// Returns the device of the current context, and so of every stream that the thread can use; null
// if there is no context.
const Device* OwnDevice() {
    const ContextRef* const context = LiveContext();
    return context != nullptr ? context->device : nullptr;
}

// Runs a synchronous copy or fill, after the checks of its arguments.
template <typename Act>
Status ActNow(Act&& act) {
    ADVSTEP_RETURN_IF_ERROR(
        CaptureRegistry::Instance().CheckUnsafe(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT));
    act();
    return {};
}

// A call that copies pageable memory waits for the copy. Inside a host function it could wait for
// the end of that function, so it is refused before the copy is queued.
Status RefusePageableInsideTask() {
    return InsideTask()
               ? Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                       "copies pageable host memory inside a host function, for which it might "
                       "wait; expected pinned memory of aclrtMallocHost or aclrtHostRegister")
               : Status();
}

// Queues a copy whose arguments have been checked. `make` constructs the record. If the memory is
// pageable the function returns when the copy has run.
template <typename Make>
Status CopyInStream(const StreamRef& target, bool pageable, const Work& work, Make&& make) {
    if (!pageable) {
        return target.Enqueue(work, make);
    }
    ADVSTEP_RETURN_IF_ERROR(RefusePageableInsideTask());
    // The enqueue below returns a more precise error for a stream that is being captured.
    if (target.CheckFree().ok()) {
        ADVSTEP_RETURN_IF_ERROR(
            CaptureRegistry::Instance().CheckUnsafe(ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC));
        // This wait returns an error before the copy is queued, if the thread must not wait for the
        // work queued so far.
        ADVSTEP_RETURN_IF_ERROR(WaitFor(target.stream->Now()));
    }
    Stream::WaitInList wait(target.stream);
    ADVSTEP_RETURN_IF_ERROR(target.Enqueue(work, [&](void* memory) {
        wait.EnterForTaskLocked();
        return make(memory);
    }));
    // The caller may use its memory again only when the copy has ended.
    return wait.WaitForTask();
}

Status Copy(const CopyRequest& request) {
    ContextRef current;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
    CopySides sides;
    ADVSTEP_RETURN_IF_ERROR(CheckCopyRanges(Memory(), request, &sides));
    return ActNow([&] {
        if (!request.Empty()) {
            CopyNow(request);
        }
    });
}

// A copy or fill of 0 bytes checks no pointer, size or kind, and a capture does not record it.
Status NothingNow() {
    ContextRef current;
    return CurrentContext(&current);
}

Status NothingInStream(aclrtStream stream) {
    StreamRef target;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
    return target.Check();
}

Status CopyAsync(const CopyRequest& request, aclrtStream stream) {
    StreamRef target;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
    CopySides sides;
    ADVSTEP_RETURN_IF_ERROR(CheckCopyRanges(Memory(), request, &sides));
    ADVSTEP_RETURN_IF_ERROR(RefuseHostToHost(request, sides));
    if (request.Empty()) {
        return target.Check();
    }
    return CopyInStream(target, sides.pageable, WorkOf(request, sides, OwnDevice()),
                        [&](void* memory) { return CopyTask::Make(memory, request); });
}

Status CopyBytesAsync(const CopyRequest& request, aclrtStream stream) {
    if (request.count == 0) {
        return NothingInStream(stream);
    }
    ADVSTEP_RETURN_IF_ERROR(CheckCopyArguments(request));
    return CopyAsync(request, stream);
}

CopyRequest Rows(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                 size_t height, aclrtMemcpyKind kind) {
    return {dst, width, src, width, kind, height, dpitch, spitch};
}

Status CheckRows(const CopyRequest& request) {
    ADVSTEP_RETURN_IF_ERROR(CheckCopyArguments(request));
    return CheckPitches(request);
}

// Makes a batch call: `run` does the work, and stores the index of a wrong batch in its argument.
// *failIndex is the only output of a call that fails.
template <typename Run>
Status ReportIndex(size_t* failIndex, Run&& run) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(failIndex, "failIndex"));
    size_t wrong = kNoBatch;
    try {
        Status status = run(&wrong);
        if (!status.ok()) {
            *failIndex = wrong;
        }
        return status;
    } catch (...) {
        *failIndex = kNoBatch;
        throw;
    }
}

Status CopyAll(const CopyBatch& batch, size_t* wrong) {
    ContextRef current;
    if (batch.count == 0) {
        return CurrentContext(&current);
    }
    ADVSTEP_RETURN_IF_ERROR(CheckBatchArguments(batch));
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
    CopySides sides;
    ADVSTEP_RETURN_IF_ERROR(CheckBatchCopies(Memory(), batch, false, &sides, wrong));
    return ActNow([&] { CopyBatchNow(batch); });
}

Status CopyAllAsync(const CopyBatch& batch, aclrtStream stream, size_t* wrong) {
    if (batch.count > 0) {
        ADVSTEP_RETURN_IF_ERROR(CheckBatchArguments(batch));
    }
    StreamRef target;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
    if (batch.count == 0) {
        return target.Check();
    }
    CopySides sides;
    ADVSTEP_RETURN_IF_ERROR(CheckBatchCopies(Memory(), batch, true, &sides, wrong));
    size_t bytes = 0;
    ADVSTEP_RETURN_IF_ERROR(CopyBatchTask::Bytes(batch, &bytes));
    return CopyInStream(target, sides.pageable, WorkOf(batch, bytes, sides, OwnDevice()),
                        [&](void* memory) { return CopyBatchTask::Make(memory, batch); });
}

Status CheckFilled(void* devPtr, size_t maxCount, size_t count, CopySides* sides) {
    if (count > maxCount) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "count is {}; expected at most maxCount = {}",
                     count, maxCount);
    }
    return CheckFill(Memory(), devPtr, "devPtr", count, sides);
}

}  // namespace

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
    return AclBoundary("aclrtMemcpy", [&]() -> Status {
        if (count == 0) {
            return NothingNow();
        }
        const CopyRequest request{dst, destMax, src, count, kind};
        ADVSTEP_RETURN_IF_ERROR(CheckCopyArguments(request));
        return Copy(request);
    });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
    return AclBoundary("aclrtMemcpyAsync", [&] {
        return CopyBytesAsync({dst, destMax, src, count, kind}, stream);
    });
}

aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream) {
    return AclBoundary("aclrtMemcpyAsyncWithCondition", [&] {
        return CopyBytesAsync({dst, destMax, src, count, kind}, stream);
    });
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind) {
    return AclBoundary("aclrtMemcpy2d", [&]() -> Status {
        const CopyRequest request = Rows(dst, dpitch, src, spitch, width, height, kind);
        ADVSTEP_RETURN_IF_ERROR(CheckRows(request));
        return Copy(request);
    });
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
    return AclBoundary("aclrtMemcpy2dAsync", [&]() -> Status {
        const CopyRequest request = Rows(dst, dpitch, src, spitch, width, height, kind);
        ADVSTEP_RETURN_IF_ERROR(CheckRows(request));
        return CopyAsync(request, stream);
    });
}

aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                          size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                          size_t numAttrs, size_t* failIndex) {
    return AclBoundary("aclrtMemcpyBatch", [&] {
        return ReportIndex(failIndex, [&](size_t* wrong) {
            return CopyAll({dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs},
                           wrong);
        });
    });
}

aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                               size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                               size_t numAttrs, size_t* failIndex, aclrtStream stream) {
    return AclBoundary("aclrtMemcpyBatchAsync", [&] {
        return ReportIndex(failIndex, [&](size_t* wrong) {
            return CopyAllAsync(
                {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs}, stream,
                wrong);
        });
    });
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
    return AclBoundary("aclrtMemset", [&]() -> Status {
        if (count == 0) {
            return NothingNow();
        }
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devPtr, "devPtr"));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        CopySides sides;
        ADVSTEP_RETURN_IF_ERROR(CheckFilled(devPtr, maxCount, count, &sides));
        return ActNow([&] { FillNow(devPtr, value, count); });
    });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
    return AclBoundary("aclrtMemsetAsync", [&]() -> Status {
        if (count == 0) {
            return NothingInStream(stream);
        }
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devPtr, "devPtr"));
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
        CopySides sides;
        ADVSTEP_RETURN_IF_ERROR(CheckFilled(devPtr, maxCount, count, &sides));
        const FillRange range{devPtr, count, sides.ForeignTo(OwnDevice())};
        return target.Enqueue(WorkOf(range), [&](void* memory) {
            return FillTask::Make(memory, devPtr, value, count);
        });
    });
}
