// SPDX-License-Identifier: Apache-2.0
// Virtual-memory calls: reserve addresses, create physical memory, map and unmap it.

#include "src/runtime/memory/virtual_memory.h"

#include <algorithm>

#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/runtime/lifecycle/device_registry.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/current.h"

using namespace advstep;

namespace {

constexpr size_t kGranularity = VirtualMemory::kGranularity;
constexpr uint64_t kMostReserveFlags = 1;  // large pages
constexpr size_t kLargestUnit = size_t{1} << 30;

VirtualMemory& Virtual() { return TheVirtualMemory(); }

Status CheckMultiple(const char* name, size_t value, size_t unit) {
    return value % unit == 0
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID, "{} is {:#x}; expected a multiple of {:#x}",
                       name, value, unit);
}

Status CheckMappingSize(size_t size) {
    if (size == 0) {
        return Error(ACL_ERROR_INVALID_PARAM, "size is 0; expected at least {}", kGranularity);
    }
    return CheckMultiple("size", size, kGranularity);
}

// A reservation may have any size above 0: it takes whole units of addresses.
Status RoundUpReservation(size_t size, size_t* bytes) {
    if (size == 0) {
        return Error(ACL_ERROR_INVALID_PARAM, "size is 0; expected at least 1 byte");
    }
    if (size > SIZE_MAX - (kGranularity - 1)) {
        return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                     "size is {}; expected a range that the host has free", size);
    }
    *bytes = (size + kGranularity - 1) / kGranularity * kGranularity;
    return {};
}

// A reservation begins at a multiple of its size rounded up to a power of two, at most of 1 GiB.
size_t ReservationUnit(size_t bytes) {
    size_t unit = kGranularity;
    while (unit < bytes && unit < kLargestUnit) {
        unit *= 2;
    }
    return unit;
}

Status CheckFlags(uint64_t flags, uint64_t most, aclError code = ACL_ERROR_RT_PARAM_INVALID) {
    return flags <= most ? Status()
                         : Error(code, "flags is {:#x}; expected at most {}", flags, most);
}

Status CheckAlignment(size_t alignment) {
    return (alignment & (alignment - 1)) == 0
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID, "alignment is {}; expected 0 or a power of two",
                       alignment);
}

// Checks that the library supports the property, and finds its place. A host of any number of NUMA
// nodes takes the number of any: its memory is in one place here.
Status CheckProperty(const aclrtPhysicalMemProp& prop, MemoryPlace* place) {
    if (prop.handleType == ACL_MEM_HANDLE_TYPE_POSIX) {
        return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "prop.handleType is POSIX, for sharing between processes; expected NONE");
    }
    if (prop.handleType != ACL_MEM_HANDLE_TYPE_NONE) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "prop.handleType is {}; expected an aclrtMemHandleType",
                     static_cast<int>(prop.handleType));
    }
    if (prop.allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "prop.allocationType is {}; expected PINNED",
                     static_cast<int>(prop.allocationType));
    }
    const auto attr = static_cast<int>(prop.memAttr);
    if (attr < ACL_DDR_MEM || attr > ACL_MEM_P2P_HUGE1G) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "prop.memAttr is {}; expected an aclrtMemAttr",
                     attr);
    }
    const auto type = static_cast<int>(prop.location.type);
    if (type == ACL_MEM_LOCATION_TYPE_HOST || type == ACL_MEM_LOCATION_TYPE_HOST_NUMA) {
        *place = MemoryPlace(static_cast<uint32_t>(type), prop.location.id);
        return {};
    }
    if (type != ACL_MEM_LOCATION_TYPE_DEVICE) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "prop.location.type is {}; expected HOST 0, DEVICE 1 or HOST_NUMA 4", type);
    }
    const Device* device = nullptr;
    ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(static_cast<int32_t>(prop.location.id),
                                                     &device, "prop.location.id"));
    *place = MemoryPlace(device);
    return {};
}

}  // namespace

aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr,
                                uint64_t flags) {
    return AclBoundary("aclrtReserveMemAddress", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(virPtr, "virPtr"));
        size_t bytes = 0;
        ADVSTEP_RETURN_IF_ERROR(RoundUpReservation(size, &bytes));
        ADVSTEP_RETURN_IF_ERROR(CheckAlignment(alignment));
        ADVSTEP_RETURN_IF_ERROR(CheckFlags(flags, kMostReserveFlags, ACL_ERROR_INVALID_PARAM));
        const size_t unit = std::max(alignment, ReservationUnit(bytes));
        ADVSTEP_RETURN_IF_ERROR(
            CheckMultiple("expectPtr", reinterpret_cast<uintptr_t>(expectPtr), unit));
        // A reservation that is made without a context belongs to no device.
        const ContextRef* const current = LiveContext();
        const Device* const device = current != nullptr ? current->device : nullptr;
        return Virtual().Reserve(device, bytes, unit, expectPtr, virPtr);
    });
}

aclError aclrtReleaseMemAddress(void* virPtr) {
    return AclBoundary("aclrtReleaseMemAddress", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(virPtr, "virPtr"));
        return Virtual().Release(virPtr);
    });
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                             const aclrtPhysicalMemProp* prop, uint64_t flags) {
    return AclBoundary("aclrtMallocPhysical", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(prop, "prop"));
        ADVSTEP_RETURN_IF_ERROR(CheckMappingSize(size));
        ADVSTEP_RETURN_IF_ERROR(CheckFlags(flags, 0));
        MemoryPlace place{nullptr};
        ADVSTEP_RETURN_IF_ERROR(CheckProperty(*prop, &place));
        Handle made = 0;
        ADVSTEP_RETURN_IF_ERROR(TakeDeviceMemory(
            place.device, [&] { return Virtual().Create(place, size, &made, prop->memAttr); }));
        *handle = ToPointer(made);
        NoteMade(ObjectKind::kPhysicalMemory, "aclrtMallocPhysical", *handle, size);
        return {};
    });
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
    return AclBoundary("aclrtFreePhysical", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        FreeingObject freeing(ObjectKind::kPhysicalMemory, handle);
        bool ended = false;
        ADVSTEP_RETURN_IF_ERROR(Virtual().Destroy(ToHandle(handle), &ended));
        if (ended) {
            freeing.Freed();
        }
        return {};
    });
}

aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                     uint64_t flags) {
    return AclBoundary("aclrtMapMem", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(virPtr, "virPtr"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        ADVSTEP_RETURN_IF_ERROR(CheckMappingSize(size));
        ADVSTEP_RETURN_IF_ERROR(
            CheckMultiple("virPtr", reinterpret_cast<uintptr_t>(virPtr), kGranularity));
        ADVSTEP_RETURN_IF_ERROR(CheckMultiple("offset", offset, kGranularity));
        ADVSTEP_RETURN_IF_ERROR(CheckFlags(flags, 0));
        return Virtual().Map(virPtr, size, offset, ToHandle(handle));
    });
}

aclError aclrtUnmapMem(void* virPtr) {
    return AclBoundary("aclrtUnmapMem", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(virPtr, "virPtr"));
        return Virtual().Unmap(virPtr);
    });
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop,
                                          aclrtMemGranularityOptions option, size_t* granularity) {
    return AclBoundary("aclrtMemGetAllocationGranularity", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(prop, "prop"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(granularity, "granularity"));
        const auto number = static_cast<int>(option);
        if (number != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM &&
            number != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "option is {}; expected MINIMUM or RECOMMENDED", number);
        }
        MemoryPlace place{nullptr};
        ADVSTEP_RETURN_IF_ERROR(CheckProperty(*prop, &place));
        *granularity = kGranularity;
        return {};
    });
}
