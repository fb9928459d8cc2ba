// SPDX-License-Identifier: Apache-2.0
// Reductions into device memory, as a kernel of the device's vector cores.

#include <algorithm>
#include <cstdint>

#include "acl/acl_rt.h"
#include "op_kernel/reduce/reduce_kernel.h"
#include "src/base/boundary.h"
#include "src/runtime/commands/launcher.h"
#include "src/runtime/device/device.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/resource_limit.h"
#include "src/runtime/stream/stream_ref.h"

using namespace advstep;

namespace {

struct ReduceRanges {
    const void* dst;
    const void* src;
    uint64_t bytes;
};

void ListRanges(const void* source, std::vector<Use>* uses) {
    const auto& ranges = *static_cast<const ReduceRanges*>(source);
    uses->push_back({Use::Kind::kMemory, "dst", ranges.dst, ranges.bytes});
    uses->push_back({Use::Kind::kMemory, "src", ranges.src, ranges.bytes});
}

Status FindKind(aclrtReduceKind kind, ReduceKind* found) {
    const auto number = static_cast<int>(kind);
    if (number < ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM || number > ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL) {
        return Error(ACL_ERROR_INVALID_PARAM, "kind is {}; expected an aclrtReduceKind", number);
    }
    *found = static_cast<ReduceKind>(number - ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM);
    return {};
}

Status FindType(aclDataType type, ReduceType* found) {
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
Status CheckRange(const char* name, const void* address, uint64_t bytes, size_t unit,
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
    ADVSTEP_RETURN_IF_ERROR(CheckRange("dst", ranges.dst, ranges.bytes, unit, &foreign));
    ADVSTEP_RETURN_IF_ERROR(CheckRange("src", ranges.src, ranges.bytes, unit, &foreign));
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
    launch.length = LengthOf(kReduceProgram, payload.elements);
    launch.payloadBytes = sizeof(payload);
    launch.run = &RunFloatKernelTask;
    Work work(KernelTask::BytesFor(launch));
    work.foreign = foreign;
    work.listUses = &ListRanges;
    work.source = &ranges;
    return TheLauncher().Launch(target, launch, &payload, work);
}

}  // namespace

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
        ADVSTEP_RETURN_IF_ERROR(FindKind(kind, &payload.kind));
        ADVSTEP_RETURN_IF_ERROR(FindType(type, &payload.type));
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
