// SPDX-License-Identifier: Apache-2.0
// Memory calls: allocate, free, register host memory, and read pointer attributes.

#include <unistd.h>
#include <new>

#include <cstdint>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "src/acl/allocate.h"
#include "src/acl/pinned_bytes.h"
#include "src/base/boundary.h"
#include "src/runtime/device/device.h"
#include "src/runtime/lifecycle/device_registry.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/task/ticket.h"

using namespace advstep;

namespace {

Status CheckRegistration(void* ptr, uint64_t size, aclrtHostRegisterType type) {
    ADVSTEP_RETURN_IF_ERROR(CheckSize(size));
    const auto number = static_cast<int>(type);
    if (number != ACL_HOST_REGISTER_MAPPED && number != ACL_HOST_REGISTER_IOMEMORY &&
        number != ACL_HOST_REGISTER_READONLY) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "type is {}; expected an aclrtHostRegisterType",
                     number);
    }
    return CheckHostRange(ptr, size);
}

// Returns the page size that aclrtPointerGetAttributes reports. `allocation` is null for an address
// in no allocation.
uint32_t PageSize(const Allocation* allocation) {
    const bool large =
        allocation != nullptr && allocation->OfDevice() &&
        (allocation->origin == MemoryOrigin::kMapped || allocation->bytes >= kLargePage);
    return static_cast<uint32_t>(large ? kLargePage : sysconf(_SC_PAGESIZE));
}

// Checks the range of a call that has no effect on it.
Status CheckUsed(const void* devPtr, size_t size) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devPtr, "devPtr"));
    ADVSTEP_RETURN_IF_ERROR(CheckSize(size));
    Allocation allocation;
    if (!TheDeviceMemory().Find(devPtr, &allocation)) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "devPtr is {}, which lies in no allocation; expected device memory", devPtr);
    }
    return size <= allocation.BytesFrom(devPtr)
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "size is {} in a range of {} bytes; expected both inside one allocation",
                       size, allocation.BytesFrom(devPtr));
}

}  // namespace

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
    return AclBoundary("aclrtMalloc",
                       [&] { return AllocateDevice("aclrtMalloc", devPtr, size, policy); });
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
    return AclBoundary("aclrtMallocAlign32",
                       [&] { return AllocateDevice("aclrtMallocAlign32", devPtr, size, policy); });
}

aclError aclrtFree(void* devPtr) {
    return AclBoundary("aclrtFree", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devPtr, "devPtr"));
        return FreeMemory(MemoryKind::kDevice, devPtr);
    });
}

aclError aclrtFreeWithDevSync(void* devPtr) {
    return AclBoundary("aclrtFreeWithDevSync", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devPtr, "devPtr"));
        ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
        DeviceMemory& memory = TheDeviceMemory();
        Allocation allocation;
        ADVSTEP_RETURN_IF_ERROR(memory.FindFreeable(MemoryKind::kDevice, devPtr, &allocation));
        ADVSTEP_RETURN_IF_ERROR(DrainDevice(allocation.device));
        return FreeMemory(MemoryKind::kDevice, devPtr);
    });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
    return AclBoundary("aclrtMallocHost",
                       [&] { return AllocatePinned("aclrtMallocHost", hostPtr, size); });
}

aclError aclrtFreeHost(void* hostPtr) {
    return AclBoundary("aclrtFreeHost", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(hostPtr, "hostPtr"));
        return FreeMemory(MemoryKind::kPinnedHost, hostPtr);
    });
}

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
    return AclBoundary("aclrtHostRegister", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(ptr, "ptr"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devPtr, "devPtr"));
        ADVSTEP_RETURN_IF_ERROR(CheckRegistration(ptr, size, type));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        ADVSTEP_RETURN_IF_ERROR(CheckStartsPage(ptr));
        ADVSTEP_RETURN_IF_ERROR(PinCounted(*current.device, size, &ptr, [&] {
            return TheDeviceMemory().Register(ptr, size, {});
        }));
        *devPtr = ptr;
        return {};
    });
}

aclError aclrtHostUnregister(void* ptr) {
    return AclBoundary("aclrtHostUnregister", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(ptr, "ptr"));
        ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
        // The program may free its memory next, so queued work must have ended. The first wait
        // comes before the end of the registration, so that a refused call changes nothing; the
        // second one is for work that was queued in between.
        HeldMemory::Freed range;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceMemory().FindRegistered(ptr, &range));
        for (const Ticket& place : PlacesThatUse(range, PendingPlaces(nullptr))) {
            ADVSTEP_RETURN_IF_ERROR(WaitFor(place, ToTheEndUnseen()));
        }
        std::vector<Ticket> pending;
        HeldRange held;
        ADVSTEP_RETURN_IF_ERROR(
            UnpinCounted(ptr, [&] { return TheDeviceMemory().Unregister(ptr, &pending, &held); }));
        try {
            if (!pending.empty()) {
                pending = PlacesThatUse(range, std::vector<Ticket>(pending));
            }
        } catch (const std::bad_alloc&) {
            // The registration has ended, so the call must succeed: it waits for all work.
        }
        for (const Ticket& place : pending) {
            ADVSTEP_RETURN_IF_ERROR(WaitFor(place, ToTheEndUnseen()));
        }
        TheDeviceMemory().holds().WaitFor(held);  // synchronous copies of other threads
        return {};
    });
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
    return AclBoundary("aclrtPointerGetAttributes", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(ptr, "ptr"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(attributes, "attributes"));
        Allocation allocation;
        const bool found = TheDeviceMemory().Find(ptr, &allocation);
        aclrtPtrAttributes result{};
        result.location.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
        if (found && allocation.OfDevice()) {
            result.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
            result.location.id = static_cast<uint32_t>(allocation.device->id());
        } else if (found) {
            result.location.type = ACL_MEM_LOCATION_TYPE_HOST;
        }
        result.pageSize = PageSize(found ? &allocation : nullptr);
        *attributes = result;
        return {};
    });
}

aclError aclrtFreeHostWithDevSync(void* hostPtr) {
    return AclBoundary("aclrtFreeHostWithDevSync", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(hostPtr, "hostPtr"));
        ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
        Allocation allocation;
        ADVSTEP_RETURN_IF_ERROR(
            TheDeviceMemory().FindFreeable(MemoryKind::kPinnedHost, hostPtr, &allocation));
        ADVSTEP_RETURN_IF_ERROR(DrainDevice(nullptr));  // any device may use pinned memory
        return FreeMemory(MemoryKind::kPinnedHost, hostPtr);
    });
}

aclError aclrtMemFlush(void* devPtr, size_t size) {
    return AclBoundary("aclrtMemFlush", [&] { return CheckUsed(devPtr, size); });
}

aclError aclrtMemInvalidate(void* devPtr, size_t size) {
    return AclBoundary("aclrtMemInvalidate", [&] { return CheckUsed(devPtr, size); });
}

aclError aclrtMemP2PMap(void* devPtr, size_t size, int32_t dstDevId, uint64_t flags) {
    return AclBoundary("aclrtMemP2PMap", [&]() -> Status {
        if (flags != 0) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "flags is {:#x}; expected 0", flags);
        }
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(dstDevId, &device, "dstDevId"));
        return CheckUsed(devPtr, size);
    });
}
