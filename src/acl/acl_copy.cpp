// SPDX-License-Identifier: Apache-2.0
// Copies and fills, immediate or in a stream, by rows, in batches and at offsets; reductions.

#include <algorithm>
#include <cstdint>
#include <new>

#include "acl/acl_rt.h"
#include "op_kernel/reduce/reduce_kernel.h"
#include "src/base/boundary.h"
#include "src/base/sanitizer_scope.h"
#include "src/base/trace_event.h"
#include "src/runtime/capture/capture.h"
#include "src/runtime/commands/launcher.h"
#include "src/runtime/device/device.h"
#include "src/runtime/memory/copy.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/sanitizer/device_sanitizer.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/resource_limit.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/stream/sync_findings.h"
#include "src/runtime/task/ticket.h"

using namespace advstep;

namespace {

const DeviceMemory& Memory() { return TheDeviceMemory(); }

// Returns the device of the current context, and so of every stream that the thread can use; null
// if there is no context.
const Device* OwnDevice() {
    const ContextRef* const context = LiveContext();
    return context != nullptr ? context->device : nullptr;
}

// Runs a synchronous copy or fill, after the checks of its arguments. The caller has a MemoryHold
// of what it touches, which is older than those checks.
template <typename Act>
Status ActNow(Act&& act) {
    ADVSTEP_RETURN_IF_ERROR(
        ToldInCapture(TheCaptureRegistry().CheckUnsafe(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT)));
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
            TheCaptureRegistry().CheckUnsafe(ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC));
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

// Tells the sanitizer of a copy that the calling thread makes.
void TellCopy(const char* call, const Work& work) {
    const SanitizerScope own;
    std::vector<Use> uses;
    work.listUses(work.source, &uses);
    TheDeviceSanitizer().HostUses(call, true, std::move(uses));
}

// Tells it that the copy has been made.
void TellRead(const Work& work) {
    const SanitizerScope own;
    std::vector<Use> uses;
    work.listUses(work.source, &uses);
    for (const Use& use : uses) {
        if (use.access == Use::Access::kReads) {
            TheDeviceSanitizer().HostHasRead(use.address, use.bytes);
        }
    }
}

Status Copy(const char* call, const CopyRequest& request) {
    ContextRef current;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
    const MemoryHold hold = HoldFor(request);
    CopySides sides;
    ADVSTEP_RETURN_IF_ERROR(CheckCopyRanges(Memory(), request, &sides));
    return ActNow([&] {
        if (request.Empty()) {
            return;
        }
        if (SanitizingWork()) {
            TellCopy(call, WorkOf(request, sides, OwnDevice()));
        }
        CopyNow(request);
        if (SanitizingWork()) {
            TellRead(WorkOf(request, sides, OwnDevice()));
        }
    });
}

// A copy or fill of 0 bytes checks no pointer, size or kind, and a capture does not record it.
Status CheckEmptyCopy() {
    ContextRef current;
    return CurrentContext(&current);
}

Status CheckEmptyCopy(aclrtStream stream) {
    StreamRef target;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
    return target.Check();
}

Status CopyAsync(const CopyRequest& request, aclrtStream stream) {
    StreamRef target;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
    const uint64_t epoch = Memory().epoch();
    CopySides sides;
    ADVSTEP_RETURN_IF_ERROR(CheckCopyRanges(Memory(), request, &sides));
    ADVSTEP_RETURN_IF_ERROR(RefuseHostToHost(request, sides));
    if (request.Empty()) {
        return target.Check();
    }
    const auto again = [&]() -> Status {
        CopySides now;
        ADVSTEP_RETURN_IF_ERROR(CheckCopyRanges(Memory(), request, &now));
        return RefuseOther(sides, now);
    };
    Work work = WorkOf(request, sides, OwnDevice());
    work.memory = CheckedAt(Memory().epochNow(), epoch, &again);
    return CopyInStream(target, sides.pageable, work,
                        [&](void* memory) { return CopyTask::Make(memory, request); });
}

Status CopyBytesAsync(const CopyRequest& request, aclrtStream stream) {
    if (request.count == 0) {
        return CheckEmptyCopy(stream);
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
    size_t wrong = kNoCopyIndex;
    try {
        Status status = run(&wrong);
        if (!status.ok()) {
            *failIndex = wrong;
        }
        return status;
    } catch (...) {
        *failIndex = kNoCopyIndex;
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
    const MemoryHold hold = HoldForBatch();
    CopySides sides;
    ADVSTEP_RETURN_IF_ERROR(CheckBatchCopies(Memory(), batch, false, &sides, wrong));
    return ActNow([&] {
        if (SanitizingWork()) {
            TellCopy("aclrtMemcpyBatch", WorkOf(batch, 0, sides, OwnDevice()));
        }
        CopyBatchNow(batch);
        if (SanitizingWork()) {
            TellRead(WorkOf(batch, 0, sides, OwnDevice()));
        }
    });
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
    const uint64_t epoch = Memory().epoch();
    CopySides sides;
    ADVSTEP_RETURN_IF_ERROR(CheckBatchCopies(Memory(), batch, true, &sides, wrong));
    size_t bytes = 0;
    ADVSTEP_RETURN_IF_ERROR(CopyBatchTask::Bytes(batch, &bytes));
    const auto again = [&]() -> Status {
        CopySides now;
        ADVSTEP_RETURN_IF_ERROR(CheckBatchCopies(Memory(), batch, true, &now, wrong));
        return RefuseOther(sides, now);
    };
    Work work = WorkOf(batch, bytes, sides, OwnDevice());
    work.memory = CheckedAt(Memory().epochNow(), epoch, &again);
    return CopyInStream(target, sides.pageable, work,
                        [&](void* memory) { return CopyBatchTask::Make(memory, batch); });
}

Status CheckFilled(void* devPtr, size_t maxCount, size_t count, CopySides* sides) {
    if (count > maxCount) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "count is {}; expected at most maxCount = {}",
                     count, maxCount);
    }
    return CheckFill(Memory(), devPtr, "devPtr", count, sides);
}

Status CheckWords(void* ptr, size_t memSize, size_t words) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(ptr, "ptr"));
    if (reinterpret_cast<uintptr_t>(ptr) % sizeof(uint32_t) != 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "ptr is {}; expected a multiple of {}", ptr,
                     sizeof(uint32_t));
    }
    return words <= memSize / sizeof(uint32_t)
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "N is {} words; expected at most the {} of memSize = {}", words,
                       memSize / sizeof(uint32_t), memSize);
}

// Copies at offsets: the pointers are read when the copy runs.

struct OffsetCopy {
    void** dst;
    const void** src;
    size_t dstOffset;
    size_t srcOffset;
    size_t count;
};

struct OffsetCopyTask : Task {
    OffsetCopy copy;
};

// The pointer may lie in memory of any device, because its value, which is read when the copy runs,
// may be an address of any device too.
Status CheckPointer(const char* name, const void* address) {
    Allocation allocation;
    if (reinterpret_cast<uintptr_t>(address) % sizeof(void*) != 0 ||
        !TheDeviceMemory().Find(address, &allocation) || !allocation.UsableOnDevice() ||
        allocation.BytesFrom(address) < sizeof(void*)) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} is {}; expected device memory with a pointer, at a multiple of {}", name,
                     address, sizeof(void*));
    }
    return {};
}

void ListPointers(const void* source, std::vector<Use>* uses) {
    const auto& copy = *static_cast<const OffsetCopy*>(source);
    const auto list = [&](const char* name, const void* address) {
        uses->push_back({Use::Kind::kMemory, name, address, sizeof(void*), Use::Access::kReads});
        uses->back().leadsAnywhere = true;
    };
    list("dst", copy.dst);
    list("src", copy.src);
}

// The sum is one of numbers: the pointer may be null or wrong, and the offset of any size.
Status AddOffset(const char* name, const void* pointer, size_t offset, uintptr_t* address) {
    return !__builtin_add_overflow(reinterpret_cast<uintptr_t>(pointer), offset, address)
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "aclrtMemcpyAsyncWithOffset: {}DataOffset is {} from {}; expected an "
                       "address of at most {:#x}",
                       name, offset, pointer, UINTPTR_MAX);
}

// The task may use memory that was freed, unmapped or closed after the task was queued. That memory
// is rare, so it is looked for last. It stays until this task has ended, as does live memory that
// another thread frees now.
Status CheckOffsetRanges(const CopyRequest& request) {
    CopySides sides;
    Status live = CheckCopyRanges(TheDeviceMemory(), request, &sides);
    return live.ok() || (UsableInTask(request.dst, request.count) &&
                         UsableInTask(request.src, request.count))
               ? Status()
               : Error(live.code(), "aclrtMemcpyAsyncWithOffset: {}", live.message());
}

Status RunOffsetCopy(const Task& base) {
    const OffsetCopy& copy = static_cast<const OffsetCopyTask&>(base).copy;
    uintptr_t dst = 0;
    uintptr_t src = 0;
    ADVSTEP_RETURN_IF_ERROR(AddOffset("dst", *copy.dst, copy.dstOffset, &dst));
    ADVSTEP_RETURN_IF_ERROR(AddOffset("src", *copy.src, copy.srcOffset, &src));
    CopyRequest request;
    request.dst = reinterpret_cast<void*>(dst);
    request.src = reinterpret_cast<const void*>(src);
    request.count = request.destMax = copy.count;
    request.kind = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
    request.kindDecides = true;  // the call takes no other memory
    ADVSTEP_RETURN_IF_ERROR(CheckOffsetRanges(request));
    CopyNow(request);
    return {};
}

Status CheckOffsetArguments(const OffsetCopy& copy, size_t destMax, aclrtMemcpyKind kind) {
    if (kind != ACL_MEMCPY_INNER_DEVICE_TO_DEVICE) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "kind is {}; expected ACL_MEMCPY_INNER_DEVICE_TO_DEVICE {}",
                     static_cast<int>(kind), static_cast<int>(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE));
    }
    if (copy.dstOffset > destMax || copy.count > destMax - copy.dstOffset) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "count is {} at dstDataOffset {}; expected both inside destMax = {}",
                     copy.count, copy.dstOffset, destMax);
    }
    ADVSTEP_RETURN_IF_ERROR(CheckPointer("dst", copy.dst));
    return CheckPointer("src", copy.src);
}

// Reductions: a kernel of the vector cores of the device.

struct ReduceRanges {
    const void* dst;
    const void* src;
    uint64_t bytes;
};

void ListReduced(const void* source, std::vector<Use>* uses) {
    const auto& ranges = *static_cast<const ReduceRanges*>(source);
    uses->push_back(
        {Use::Kind::kMemory, "dst", ranges.dst, ranges.bytes, Use::Access::kReadsAndWrites});
    uses->push_back({Use::Kind::kMemory, "src", ranges.src, ranges.bytes, Use::Access::kReads});
}

Status FindReduceKind(aclrtReduceKind kind, ReduceKind* found) {
    const auto number = static_cast<int>(kind);
    if (number < ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM || number > ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL) {
        return Error(ACL_ERROR_INVALID_PARAM, "kind is {}; expected an aclrtReduceKind", number);
    }
    *found = static_cast<ReduceKind>(number - ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM);
    return {};
}

Status FindReduceType(aclDataType type, ReduceType* found) {
    switch (static_cast<int>(type)) {
        case ACL_INT8:
            *found = ReduceType::kInt8;
            return {};
        case ACL_INT16:
            *found = ReduceType::kInt16;
            return {};
        case ACL_INT32:
            *found = ReduceType::kInt32;
            return {};
        case ACL_FLOAT16:
            *found = ReduceType::kFloat16;
            return {};
        case ACL_BF16:
            *found = ReduceType::kBfloat16;
            return {};
        case ACL_FLOAT:
            *found = ReduceType::kFloat;
            return {};
        default:
            return Error(ACL_ERROR_INVALID_PARAM,
                         "type is {}; expected ACL_INT8, INT16, INT32, FLOAT16, BF16 or FLOAT",
                         static_cast<int>(type));
    }
}

// *foreign is set if the range is memory of another device than the stream's.
Status CheckReduced(const char* name, const void* address, uint64_t bytes, size_t unit,
                    bool* foreign) {
    if (reinterpret_cast<uintptr_t>(address) % unit != 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "{} is {}; expected a multiple of {}", name,
                     address, unit);
    }
    Allocation allocation;
    if (!TheDeviceMemory().Find(address, &allocation) || !allocation.UsableOnDevice()) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} is {}, which lies in no device allocation; expected device memory", name,
                     address);
    }
    if (allocation.BytesFrom(address) < bytes) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "count is {} in a range of {} bytes; expected {} inside one allocation", bytes,
                     allocation.BytesFrom(address), name);
    }
    const ContextRef* const current = LiveContext();
    *foreign = *foreign || (allocation.OfDevice() &&
                            (current == nullptr || current->device != allocation.device));
    return {};
}

// Refuses ranges that overlap in part, because a core would read elements that another core writes.
Status RefuseOverlap(const void* dst, const void* src, uint64_t bytes) {
    const auto first = reinterpret_cast<uintptr_t>(std::min(dst, src));
    const auto second = reinterpret_cast<uintptr_t>(std::max(dst, src));
    return dst == src || second - first >= bytes
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "dst is {} and src {}, which overlap in {} bytes; expected the same address "
                       "or ranges apart",
                       dst, src, bytes - (second - first));
}

Status Reduce(const ReduceRanges& ranges, ReducePayload payload, size_t unit, aclrtStream stream) {
    StreamRef target;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
    ContextRef current;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
    bool foreign = false;
    const auto check = [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckReduced("dst", ranges.dst, ranges.bytes, unit, &foreign));
        return CheckReduced("src", ranges.src, ranges.bytes, unit, &foreign);
    };
    const uint64_t epoch = Memory().epoch();
    ADVSTEP_RETURN_IF_ERROR(check());
    ADVSTEP_RETURN_IF_ERROR(RefuseOverlap(ranges.dst, ranges.src, ranges.bytes));
    const int64_t cores = CoresInEffect(*current.device, ACL_RT_DEV_RES_VECTOR_CORE);
    payload.elements = static_cast<int64_t>(ranges.bytes / unit);
    payload.elementsPerCore =
        std::max(kLeastReduceElements, (payload.elements + cores - 1) / cores);
    PlannedLaunch launch;
    launch.program = &kReduceProgram;
    launch.device = current.device;
    launch.coreCount = static_cast<int32_t>((payload.elements + payload.elementsPerCore - 1) /
                                            payload.elementsPerCore);
    launch.rows = payload.elements;
    launch.length = LengthOf(kReduceProgram, payload.elements, payload.elements);
    launch.payloadBytes = sizeof(payload);
    launch.run = &RunFloatKernelTask;
    Work work(KernelTask::BytesFor(launch));
    work.foreign = foreign;
    work.listUses = &ListReduced;
    work.source = &ranges;
    const bool checked = foreign;
    const auto again = [&]() -> Status {
        foreign = false;
        ADVSTEP_RETURN_IF_ERROR(check());
        return RefuseOther(checked, foreign);
    };
    work.memory = CheckedAt(Memory().epochNow(), epoch, &again);
    return TheLauncher().Launch(target, launch, &payload, work);
}

// Queues a fill after check(sides), which is made again if memory leaves meanwhile. make(memory)
// constructs the record.
template <typename Check, typename Make>
Status EnqueueFill(const StreamRef& stream, void* address, size_t bytes, Check&& check,
                   Make&& make) {
    const uint64_t epoch = Memory().epoch();
    CopySides sides;
    ADVSTEP_RETURN_IF_ERROR(check(&sides));
    const FillRange range{address, bytes, sides.ForeignTo(OwnDevice())};
    const auto again = [&]() -> Status {
        CopySides now;
        ADVSTEP_RETURN_IF_ERROR(check(&now));
        return RefuseOther(sides, now);
    };
    Work work = WorkOf(range);
    work.memory = CheckedAt(Memory().epochNow(), epoch, &again);
    return stream.Enqueue(work, make);
}

}  // namespace

// The calls.

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                     aclrtMemcpyKind kind) {
    return AclBoundary("aclrtMemcpy", [&]() -> Status {
        if (count == 0) {
            return CheckEmptyCopy();
        }
        const CopyRequest request{dst, destMax, src, count, kind};
        ADVSTEP_RETURN_IF_ERROR(CheckCopyArguments(request));
        return Copy("aclrtMemcpy", request);
    });
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
    return AclBoundary("aclrtMemcpyAsync", [&] {
        return CopyBytesAsync({dst, destMax, src, count, kind}, stream);
    });
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind) {
    return AclBoundary("aclrtMemcpy2d", [&]() -> Status {
        const CopyRequest request = Rows(dst, dpitch, src, spitch, width, height, kind);
        ADVSTEP_RETURN_IF_ERROR(CheckRows(request));
        return Copy("aclrtMemcpy2d", request);
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
            return CheckEmptyCopy();
        }
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devPtr, "devPtr"));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        const MemoryHold hold = HoldForFill(devPtr, count);
        CopySides sides;
        ADVSTEP_RETURN_IF_ERROR(CheckFilled(devPtr, maxCount, count, &sides));
        return ActNow([&] {
            if (SanitizingWork()) {
                const SanitizerScope own;
                TheDeviceSanitizer().HostUses(
                    "aclrtMemset", false,
                    {{Use::Kind::kMemory, "devPtr", devPtr, count, Use::Access::kWrites}});
            }
            FillNow(devPtr, value, count);
        });
    });
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream) {
    return AclBoundary("aclrtMemsetAsync", [&]() -> Status {
        if (count == 0) {
            return CheckEmptyCopy(stream);
        }
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devPtr, "devPtr"));
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
        return EnqueueFill(
            target, devPtr, count,
            [&](CopySides* sides) { return CheckFilled(devPtr, maxCount, count, sides); },
            [&](void* memory) { return FillTask::Make(memory, devPtr, value, count); });
    });
}

aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream) {
    return AclBoundary("aclrtMemcpyAsyncWithCondition", [&] {
        return CopyBytesAsync({dst, destMax, src, count, kind}, stream);
    });
}

aclError aclrtMemcpyAsyncWithOffset(void** dst, size_t destMax, size_t dstDataOffset,
                                    const void** src, size_t count, size_t srcDataOffset,
                                    aclrtMemcpyKind kind, aclrtStream stream) {
    return AclBoundary("aclrtMemcpyAsyncWithOffset", [&]() -> Status {
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
        if (count == 0) {
            return target.Check();
        }
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(dst, "dst"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(src, "src"));
        const OffsetCopy copy{dst, src, dstDataOffset, srcDataOffset, count};
        const auto check = [&] { return CheckOffsetArguments(copy, destMax, kind); };
        const uint64_t epoch = Memory().epoch();
        ADVSTEP_RETURN_IF_ERROR(check());
        Work work(sizeof(OffsetCopyTask));
        work.memory = CheckedAt(Memory().epochNow(), epoch, &check);
        work.foreign = true;  // the pointers may lead to any device
        work.listUses = &ListPointers;
        work.source = &copy;
        return target.Enqueue(work, [&](void* memory) {
            auto* const task = new (memory) OffsetCopyTask;
            task->name = "copy";
            task->category = TaskCategory::kMemory;
            static constexpr TaskType kType = {[](const Task& base, TraceArgs* args) {
                args->Add("bytes", static_cast<int64_t>(
                                       static_cast<const OffsetCopyTask&>(base).copy.count));
            }};
            task->type = &kType;
            task->run = &RunOffsetCopy;
            // The task is never brief, because it takes the lock of the device memory.
            task->length =
                LengthOfCopy(count) == TaskLength::kHeavy ? TaskLength::kHeavy : TaskLength::kUsual;
            task->copy = copy;
            return task;
        });
    });
}

aclError aclrtReduceAsync(void* dst, const void* src, uint64_t count, aclrtReduceKind kind,
                          aclDataType type, aclrtStream stream, void* reserve) {
    return AclBoundary("aclrtReduceAsync", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(dst, "dst"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(src, "src"));
        if (reserve != nullptr) {
            return Error(ACL_ERROR_INVALID_PARAM, "reserve is {}; expected NULL", reserve);
        }
        ReducePayload payload;
        payload.dst = dst;
        payload.src = src;
        ADVSTEP_RETURN_IF_ERROR(FindReduceKind(kind, &payload.kind));
        ADVSTEP_RETURN_IF_ERROR(FindReduceType(type, &payload.type));
        const size_t unit = aclDataTypeSize(type);
        if (count == 0 || count % unit != 0) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "count is {} bytes; expected a multiple of the {} bytes of an element, "
                         "above 0",
                         count, unit);
        }
        return Reduce({dst, src, count}, payload, unit, stream);
    });
}

aclError aclrtMemcpyBatchV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                            size_t numBatches, aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes,
                            size_t numAttrs) {
    return AclBoundary("aclrtMemcpyBatchV2", [&] {
        size_t wrong = kNoCopyIndex;
        return CopyAll({dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs},
                       &wrong);
    });
}

aclError aclrtMemcpyBatchAsyncV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                                 size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                 size_t* attrsIndexes, size_t numAttrs, aclrtStream stream) {
    return AclBoundary("aclrtMemcpyBatchAsyncV2", [&] {
        size_t wrong = kNoCopyIndex;
        return CopyAllAsync(
            {dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs}, stream,
            &wrong);
    });
}

aclError aclrtMemsetD32(void* ptr, size_t memSize, uint32_t value, size_t N) {
    return AclBoundary("aclrtMemsetD32", [&]() -> Status {
        if (N == 0) {
            return CheckEmptyCopy();
        }
        ContextRef current;
        CopySides sides;
        ADVSTEP_RETURN_IF_ERROR(CheckWords(ptr, memSize, N));
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        const MemoryHold hold = HoldForFill(ptr, N * sizeof(value));
        ADVSTEP_RETURN_IF_ERROR(CheckFill(Memory(), ptr, "ptr", N * sizeof(value), &sides));
        return ActNow([&] { FillWordsNow(ptr, value, N); });
    });
}

aclError aclrtMemsetD32Async(void* ptr, size_t memSize, uint32_t value, size_t N,
                             aclrtStream stream) {
    return AclBoundary("aclrtMemsetD32Async", [&]() -> Status {
        if (N == 0) {
            return CheckEmptyCopy(stream);
        }
        StreamRef target;
        ADVSTEP_RETURN_IF_ERROR(CheckWords(ptr, memSize, N));
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
        const size_t bytes = N * sizeof(value);
        return EnqueueFill(
            target, ptr, bytes,
            [&](CopySides* sides) { return CheckFill(Memory(), ptr, "ptr", bytes, sides); },
            [&](void* memory) { return FillTask::MakeOfWords(memory, ptr, value, N); });
    });
}
