// SPDX-License-Identifier: Apache-2.0
// Copies that read their addresses from device memory when they run.

#include <cstdint>
#include <new>

#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/base/trace_event.h"
#include "src/runtime/memory/copy.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream_ref.h"

using namespace advstep;

namespace {

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
    uses->push_back({Use::Kind::kMemory, "dst", copy.dst, sizeof(void*)});
    uses->push_back({Use::Kind::kMemory, "src", copy.src, sizeof(void*)});
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
Status CheckRanges(const CopyRequest& request) {
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
    ADVSTEP_RETURN_IF_ERROR(CheckRanges(request));
    CopyNow(request);
    return {};
}

Status CheckArguments(const OffsetCopy& copy, size_t destMax, aclrtMemcpyKind kind) {
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

}  // namespace

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
        ADVSTEP_RETURN_IF_ERROR(CheckArguments(copy, destMax, kind));
        Work work(sizeof(OffsetCopyTask));
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
