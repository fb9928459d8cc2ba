// SPDX-License-Identifier: Apache-2.0
// Checks copies and fills, and moves the bytes.

#include "src/runtime/memory/copy.h"

#include <cstring>
#include <new>
#include <utility>

#include "src/base/boundary.h"
#include "src/base/trace_event.h"
#include "src/runtime/memory/large_pages.h"

namespace advstep {
namespace {

// Copies run at about 10 GB/s, so a copy of more bytes takes longer than waking a thread.
constexpr size_t kHeavyBytes = size_t{256} << 10;

struct Side {
    const char* name;    // the name of the argument
    const char* action;  // the direction of the copy: "into" or "from"
    const void* address;
    size_t pitch;
    bool onDevice = false;
};

// Computes the bytes from the first to the last that a side's rows take. False: that is more than
// there are addresses.
bool Footprint(const CopyRequest& request, const Side& side, size_t* bytes) {
    size_t before = 0;  // bytes before the last row
    return !__builtin_mul_overflow(request.rows - 1, side.pitch, &before) &&
           !__builtin_add_overflow(before, request.count, bytes);
}

// Sets onDevice of the sides that the kind puts on the device. ACL_MEMCPY_DEFAULT decides by the
// addresses.
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
                side->onDevice = memory.Find(side->address, &allocation) && allocation.OfDevice();
            }
            return;
        default:
            return;
    }
}

Status CheckSide(const DeviceMemory& memory, const CopyRequest& request, const Side& side,
                 CopySides* sides) {
    size_t bytes = 0;
    if (!Footprint(request, side, &bytes)) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "height is {} with {}pitch {} and width {}; expected a range of at most {} "
                     "bytes",
                     request.rows, side.name[0], side.pitch, request.count, SIZE_MAX);
    }
    Allocation allocation;
    const bool found = memory.Find(side.address, &allocation);
    if (side.onDevice && (!found || !allocation.UsableOnDevice())) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} is {}, which lies in no device allocation; expected device memory",
                     side.name, side.address);
    }
    const bool inside = found && allocation.BytesFrom(side.address) >= bytes;
    const bool partlyRegistered =
        found && !inside && allocation.origin == MemoryOrigin::kRegistered && !side.onDevice;
    const bool notPinned = found && allocation.pageable && !side.onDevice;
    if (!found || partlyRegistered || notPinned) {
        sides->pageable = true;
        sides->pageableDst = sides->pageableDst || side.address == request.dst;
        return {};
    }
    if (allocation.OfDevice()) {
        sides->touchesDevice = true;
        sides->Touch(allocation.device);
    }
    if (!inside) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "copies {} bytes {} a {} range of {} bytes; expected {} inside one allocation",
                     bytes, side.action, allocation.OfDevice() ? "device" : "pinned host",
                     allocation.BytesFrom(side.address), side.name);
    }
    return {};
}

// Copies the rows in ascending order. The two sides of a row may overlap, as with memmove.
void CopyRows(void* dst, const void* src, size_t count, size_t rows, size_t dpitch, size_t spitch) {
    auto* to = static_cast<unsigned char*>(dst);
    const auto* from = static_cast<const unsigned char*>(src);
    for (size_t row = 0; row < rows; ++row) {
        WillWrite(to + row * dpitch, count);
        std::memmove(to + row * dpitch, from + row * spitch, count);
    }
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

Status CheckPitches(const CopyRequest& request) {
    if (request.Empty()) {
        return {};
    }
    for (const auto& [name, pitch] :
         {std::pair("dpitch", request.dpitch), std::pair("spitch", request.spitch)}) {
        if (request.count > pitch) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "width is {}; expected at most {} = {}",
                         request.count, name, pitch);
        }
    }
    return {};
}

Status CheckCopyRanges(const DeviceMemory& memory, const CopyRequest& request, CopySides* sides) {
    if (request.Empty()) {
        return {};
    }
    Side dst{"dst", "into", request.dst, request.dpitch};
    Side src{"src", "from", request.src, request.spitch};
    PlaceSides(memory, request.kind, &dst, &src);
    if (request.count > request.destMax) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "count is {}; expected at most destMax = {}",
                     request.count, request.destMax);
    }
    ADVSTEP_RETURN_IF_ERROR(CheckSide(memory, request, dst, sides));
    return CheckSide(memory, request, src, sides);
}

Status RefuseHostToHost(const CopyRequest& request, const CopySides& sides) {
    const bool hostToHost =
        request.kind == ACL_MEMCPY_HOST_TO_HOST ||
        (request.kind == ACL_MEMCPY_DEFAULT && !sides.touchesDevice && !request.Empty());
    return hostToHost ? Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                              "kind is {}, a copy from host to host; expected a side in device "
                              "memory",
                              static_cast<int>(request.kind))
                      : Status();
}

Status CheckFill(const DeviceMemory& memory, const void* address, const char* argument,
                 size_t count, CopySides* sides) {
    Allocation allocation;
    if (!memory.Find(address, &allocation)) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} is {}, which lies in no allocation; expected device or pinned host "
                     "memory",
                     argument, address);
    }
    if (allocation.BytesFrom(address) < count) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "sets {} bytes in a range of {} bytes; expected {} inside one allocation",
                     count, allocation.BytesFrom(address), argument);
    }
    if (allocation.OfDevice()) {
        sides->Touch(allocation.device);
    }
    return {};
}

TaskLength LengthOfCopy(size_t bytes) {
    return bytes > kHeavyBytes ? TaskLength::kHeavy : TaskLength::kUsual;
}

void CopyNow(const CopyRequest& request) {
    CopyRows(request.dst, request.src, request.count, request.rows, request.dpitch, request.spitch);
}

void FillNow(void* address, int32_t value, size_t count) {
    WillWrite(address, count);
    std::memset(address, value, count);
}

CopyTask* CopyTask::Make(void* memory, const CopyRequest& request) {
    auto* const task = new (memory) CopyTask;
    task->name = "copy";
    task->category = TaskCategory::kMemory;
    static constexpr TaskType kType = {[](const Task& base, TraceArgs* args) {
        const auto& copy = static_cast<const CopyTask&>(base);
        args->Add("bytes", static_cast<int64_t>(copy.count * copy.rows));
    }};
    task->type = &kType;
    task->run = [](const Task& base) {
        const auto& copy = static_cast<const CopyTask&>(base);
        CopyRows(copy.dst, copy.src, copy.count, copy.rows, copy.dpitch, copy.spitch);
        return Status();
    };
    // No overflow: the rows' bytes are part of a range that has been checked.
    task->length = LengthOfCopy(request.count * request.rows);
    task->dst = request.dst;
    task->src = request.src;
    task->count = request.count;
    task->rows = request.rows;
    task->dpitch = request.dpitch;
    task->spitch = request.spitch;
    return task;
}

FillTask* FillTask::Make(void* memory, void* address, int32_t value, size_t count) {
    auto* const task = new (memory) FillTask;
    task->name = "fill";
    task->category = TaskCategory::kMemory;
    static constexpr TaskType kType = {[](const Task& base, TraceArgs* args) {
        args->Add("bytes", static_cast<int64_t>(static_cast<const FillTask&>(base).count));
    }};
    task->type = &kType;
    task->run = [](const Task& base) {
        const auto& fill = static_cast<const FillTask&>(base);
        FillNow(fill.address, fill.value, fill.count);
        return Status();
    };
    task->length = LengthOfCopy(count);
    task->address = address;
    task->value = value;
    task->count = count;
    return task;
}

}  // namespace advstep
