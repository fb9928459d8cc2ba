#include "src/runtime/copy.h"

#include <cstring>
#include <new>

#include "src/base/boundary.h"

namespace advstep {
namespace {

// About 10 GB/s: more than this takes longer than waking a thread.
constexpr size_t kHeavyBytes = size_t{256} << 10;

struct Side {
    const char* name;    // of the argument
    const char* action;  // what the copy does there
    const void* address;
    bool onDevice;
};

// Which sides the kind puts on the device; DEFAULT tells by the addresses.
void PlaceSides(const DeviceMemory& memory, aclrtMemcpyKind kind, Side* dst, Side* src) {
    switch (static_cast<int>(kind)) {
        case ACL_MEMCPY_HOST_TO_DEVICE:
        case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE:
            dst->onDevice = true;
            return;
        case ACL_MEMCPY_DEVICE_TO_HOST:
            src->onDevice = true;
            return;
        case ACL_MEMCPY_DEVICE_TO_DEVICE:
        case ACL_MEMCPY_INNER_DEVICE_TO_DEVICE:
        case ACL_MEMCPY_INTER_DEVICE_TO_DEVICE:
            dst->onDevice = src->onDevice = true;
            return;
        case ACL_MEMCPY_DEFAULT:
            for (Side* side : {dst, src}) {
                Allocation allocation;
                side->onDevice = memory.Find(side->address, &allocation) &&
                                 allocation.kind == MemoryKind::kDevice;
            }
            return;
        default:
            return;
    }
}

Status CheckSide(const DeviceMemory& memory, const Side& side, size_t count, CopySides* sides) {
    Allocation allocation;
    const bool found = memory.Find(side.address, &allocation);
    if (side.onDevice && (!found || allocation.kind != MemoryKind::kDevice)) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} is {}, which lies in no device allocation; expected device memory",
                     side.name, side.address);
    }
    if (!found) {
        sides->pageable = true;
        return {};
    }
    const bool device = allocation.kind == MemoryKind::kDevice;
    sides->touchesDevice = sides->touchesDevice || device;
    if (allocation.BytesFrom(side.address) < count) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "copies {} bytes {} a {} range of {} bytes; expected {} inside one allocation",
                     count, side.action, device ? "device" : "pinned host",
                     allocation.BytesFrom(side.address), side.name);
    }
    return {};
}

}  // namespace

Status CheckCopyArguments(const CopyRequest& request) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(request.dst, "dst"));
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(request.src, "src"));
    const auto kind = static_cast<int>(request.kind);
    return kind >= ACL_MEMCPY_HOST_TO_HOST && kind <= ACL_MEMCPY_INTER_DEVICE_TO_DEVICE
               ? Status()
               : Error(ACL_ERROR_INVALID_PARAM, "kind is {}; expected an aclrtMemcpyKind", kind);
}

Status CheckCopyRanges(const DeviceMemory& memory, const CopyRequest& request, CopySides* sides) {
    Side dst{"dst", "into", request.dst, false};
    Side src{"src", "from", request.src, false};
    PlaceSides(memory, request.kind, &dst, &src);
    if (request.count == 0) {
        return {};
    }
    if (request.count > request.destMax) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "count is {}; expected at most destMax = {}",
                     request.count, request.destMax);
    }
    ADVSTEP_RETURN_IF_ERROR(CheckSide(memory, dst, request.count, sides));
    return CheckSide(memory, src, request.count, sides);
}

Status CheckFill(const DeviceMemory& memory, const void* address, size_t maxCount, size_t count) {
    if (count > maxCount) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "count is {}; expected at most maxCount = {}",
                     count, maxCount);
    }
    Allocation allocation;
    if (!memory.Find(address, &allocation)) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "devPtr is {}, which lies in no allocation; expected device or pinned host "
                     "memory",
                     address);
    }
    if (allocation.BytesFrom(address) < count) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "sets {} bytes in a range of {} bytes; expected devPtr inside one allocation",
                     count, allocation.BytesFrom(address));
    }
    return {};
}

void CopyNow(const CopyRequest& request) { std::memmove(request.dst, request.src, request.count); }

CopyTask* CopyTask::Make(void* memory, const CopyRequest& request) {
    auto* const task = new (memory) CopyTask;
    task->name = "copy";
    task->run = [](const Task& base) {
        const auto& copy = static_cast<const CopyTask&>(base);
        std::memmove(copy.dst, copy.src, copy.count);
        return Status();
    };
    task->heavy = request.count > kHeavyBytes;
    task->dst = request.dst;
    task->src = request.src;
    task->count = request.count;
    return task;
}

FillTask* FillTask::Make(void* memory, void* address, int32_t value, size_t count) {
    auto* const task = new (memory) FillTask;
    task->name = "fill";
    task->run = [](const Task& base) {
        const auto& fill = static_cast<const FillTask&>(base);
        std::memset(fill.address, fill.value, fill.count);
        return Status();
    };
    task->heavy = count > kHeavyBytes;
    task->address = address;
    task->value = value;
    task->count = count;
    return task;
}

}  // namespace advstep
