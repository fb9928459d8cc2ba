// SPDX-License-Identifier: Apache-2.0
// Memory between processes, by handles and by keys; rights of mappings; the block around an
// address.

#include <cstring>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "src/acl/share_keys.h"
#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/runtime/device/device.h"
#include "src/runtime/device/peer_access.h"
#include "src/runtime/lifecycle/device_registry.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/memory/memory_sharing.h"
#include "src/runtime/stream/current.h"

using namespace advstep;

namespace {

// The bytes of a shareable handle of type FABRIC.
struct FabricHandle {
    char mark[8];
    ShareKey key;  // a long one
    uint8_t zeros[sizeof(aclrtMemFabricHandle) - sizeof(mark) - sizeof(key)];
};
static_assert(sizeof(FabricHandle) == sizeof(aclrtMemFabricHandle));

constexpr char kFabricMark[8] = "ADVSTEP";

Status CheckShareType(aclrtMemSharedHandleType type) {
    const auto number = static_cast<int>(type);
    return number == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT || number == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "shareType is {}; expected an aclrtMemSharedHandleType", number);
}

void WriteHandle(const ShareKey& key, aclrtMemSharedHandleType type, void* shareable) {
    if (type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT) {
        std::memcpy(shareable, &key.place, sizeof(key.place));
        return;
    }
    FabricHandle handle{};
    std::memcpy(handle.mark, kFabricMark, sizeof(kFabricMark));
    handle.key = key;
    std::memcpy(shareable, &handle, sizeof(handle));
}

Status ReadHandle(const void* shareable, aclrtMemSharedHandleType type, ShareKey* key) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(shareable, "shareableHandle"));
    ADVSTEP_RETURN_IF_ERROR(CheckShareType(type));
    if (type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT) {
        *key = {};
        std::memcpy(&key->place, shareable, sizeof(key->place));
        return {};
    }
    FabricHandle handle;
    std::memcpy(&handle, shareable, sizeof(handle));
    if (std::memcmp(handle.mark, kFabricMark, sizeof(kFabricMark)) != 0 || handle.key.IsShort()) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "shareableHandle is no fabric handle; expected one as the export made it");
    }
    *key = handle.key;
    return {};
}

Status Export(aclrtDrvMemHandle handle, uint64_t flags, aclrtMemSharedHandleType type,
              void* shareable) {
    ADVSTEP_RETURN_IF_ERROR(CheckShareFlags(flags, ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    ShareKey key;
    ADVSTEP_RETURN_IF_ERROR(TheVirtualMemory().Export(
        ToHandle(handle), flags != 0, type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &key));
    WriteHandle(key, type, shareable);
    return {};
}

Status Import(const char* call, const ShareKey& key, int32_t deviceId, aclrtDrvMemHandle* handle) {
    const Device* device = nullptr;
    ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().Find(deviceId, &device));
    Handle made = 0;
    int32_t owner = 0;
    PeerAccessRoom room;
    ADVSTEP_RETURN_IF_ERROR(TheVirtualMemory().Import(device, key, &made, &owner));
    EnablePeersOfImport(deviceId, owner, &room);
    *handle = ToPointer(made);
    NoteMade(ObjectKind::kPhysicalMemory, call, *handle);
    return {};
}

Status SetPids(const ShareKey& key, const int32_t* pid, size_t pidNum) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(pid, "pid"));
    if (pidNum == 0 || pidNum > kMostProcesses) {
        return Error(ACL_ERROR_INVALID_PARAM, "pidNum is {}; expected 1 to {} processes", pidNum,
                     kMostProcesses);
    }
    return TheShareServer().Allow(key, ShareKind::kPhysical, pid, pidNum, "shareableHandle");
}

// `argument`: the name of the location.
Status CheckLocation(const aclrtMemLocation& location, const std::string& argument) {
    if (location.type == ACL_MEM_LOCATION_TYPE_DEVICE) {
        const Device* device = nullptr;
        return TheDeviceRegistry().Find(static_cast<int32_t>(location.id), &device,
                                        (argument + ".id").c_str());
    }
    return location.type == ACL_MEM_LOCATION_TYPE_HOST ||
                   location.type == ACL_MEM_LOCATION_TYPE_HOST_NUMA
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID, "{}.type is {}; expected a device or the host",
                       argument, static_cast<int>(location.type));
}

Status RequireParameter(const void* pointer, const char* argument) {
    return pointer != nullptr
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID, "{} is null; expected a pointer", argument);
}

}  // namespace

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType,
                                         uint64_t flags, uint64_t* shareableHandle) {
    return AclBoundary("aclrtMemExportToShareableHandle", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(shareableHandle, "shareableHandle"));
        if (handleType != ACL_MEM_HANDLE_TYPE_NONE) {
            return Error(ACL_ERROR_INVALID_PARAM,
                         "handleType is {}; expected ACL_MEM_HANDLE_TYPE_NONE 0",
                         static_cast<int>(handleType));
        }
        return Export(handle, flags, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, shareableHandle);
    });
}

aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                           aclrtMemSharedHandleType shareType,
                                           void* shareableHandle) {
    return AclBoundary("aclrtMemExportToShareableHandleV2", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(shareableHandle, "shareableHandle"));
        ADVSTEP_RETURN_IF_ERROR(CheckShareType(shareType));
        return Export(handle, flags, shareType, shareableHandle);
    });
}

aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId,
                                           aclrtDrvMemHandle* handle) {
    return AclBoundary("aclrtMemImportFromShareableHandle", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        return Import("aclrtMemImportFromShareableHandle", {shareableHandle, {}}, deviceId, handle);
    });
}

aclError aclrtMemImportFromShareableHandleV2(void* shareableHandle,
                                             aclrtMemSharedHandleType shareType, uint64_t flags,
                                             aclrtDrvMemHandle* handle) {
    return AclBoundary("aclrtMemImportFromShareableHandleV2", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        ShareKey key;
        ADVSTEP_RETURN_IF_ERROR(ReadHandle(shareableHandle, shareType, &key));
        if (flags != 0) {
            return Error(ACL_ERROR_INVALID_PARAM, "flags is {:#x}; expected 0", flags);
        }
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        return Import("aclrtMemImportFromShareableHandleV2", key, current.device->id(), handle);
    });
}

aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid, size_t pidNum) {
    return AclBoundary("aclrtMemSetPidToShareableHandle", [&] {
        return SetPids({shareableHandle, {}}, pid, pidNum);
    });
}

aclError aclrtMemSetPidToShareableHandleV2(void* shareableHandle,
                                           aclrtMemSharedHandleType shareType, int32_t* pid,
                                           size_t pidNum) {
    return AclBoundary("aclrtMemSetPidToShareableHandleV2", [&]() -> Status {
        ShareKey key;
        ADVSTEP_RETURN_IF_ERROR(ReadHandle(shareableHandle, shareType, &key));
        return SetPids(key, pid, pidNum);
    });
}

aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len, uint64_t flags) {
    return AclBoundary("aclrtIpcMemGetExportKey", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devPtr, "devPtr"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(key, "key"));
        if (size == 0) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "size is 0; expected at least 1 byte");
        }
        ADVSTEP_RETURN_IF_ERROR(CheckKeyRoom(len));
        ADVSTEP_RETURN_IF_ERROR(
            CheckShareFlags(flags, ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        ShareKey made;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceMemory().Export(devPtr, size, flags != 0, &made));
        WriteShareKey(ShareKind::kBlock, made, key);
        return {};
    });
}

aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags) {
    return AclBoundary("aclrtIpcMemImportByKey", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devPtr, "devPtr"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(key, "key"));
        ADVSTEP_RETURN_IF_ERROR(
            CheckShareFlags(flags, ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        ShareKey wanted;
        ADVSTEP_RETURN_IF_ERROR(ReadShareKey(ShareKind::kBlock, key, "key", &wanted));
        ShareGrant grant;
        ADVSTEP_RETURN_IF_ERROR(FetchShared(ShareKind::kBlock, wanted, "key", &grant));
        PeerAccessRoom room;
        const int32_t owner = grant.device;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceMemory().Import(current.device, std::move(grant), devPtr));
        if (flags != 0) {
            EnablePeersOfImport(current.device->id(), owner, &room);
        }
        NoteMade(ObjectKind::kImportedMemory, "aclrtIpcMemImportByKey", ToPointer(NameOf(wanted)));
        return {};
    });
}

aclError aclrtIpcMemClose(const char* key) {
    return AclBoundary("aclrtIpcMemClose", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(key, "key"));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        ShareKey wanted;
        ADVSTEP_RETURN_IF_ERROR(ReadShareKey(ShareKind::kBlock, key, "key", &wanted));
        FreeingObject freeing(ObjectKind::kImportedMemory, ToPointer(NameOf(wanted)));
        if (TheDeviceMemory().CloseImport(NameOf(wanted))) {
            freeing.Freed();
            return {};
        }
        if (!TheShareServer().HasExport(wanted, ShareKind::kBlock)) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "key is of the export {:#x}, of which this process has neither an import "
                         "nor an export; expected one that is not closed",
                         NameOf(wanted));
        }
        TheDeviceMemory().CloseExport(NameOf(wanted));
        return {};
    });
}

aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num) {
    return AclBoundary("aclrtIpcMemSetImportPid", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(key, "key"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(pid, "pid"));
        ADVSTEP_RETURN_IF_ERROR(CheckProcessCount(num));
        ShareKey wanted;
        ADVSTEP_RETURN_IF_ERROR(ReadShareKey(ShareKind::kBlock, key, "key", &wanted));
        return TheShareServer().Allow(wanted, ShareKind::kBlock, pid, num, "key");
    });
}

aclError aclrtMemSetAccess(void* virPtr, size_t size, aclrtMemAccessDesc* desc, size_t count) {
    return AclBoundary("aclrtMemSetAccess", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireParameter(virPtr, "virPtr"));
        ADVSTEP_RETURN_IF_ERROR(RequireParameter(desc, "desc"));
        if (count == 0) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "count is 0; expected at least 1");
        }
        std::vector<VirtualMemory::Access> access;
        for (size_t i = 0; i < count; ++i) {
            const auto rights = static_cast<uint32_t>(desc[i].flags);
            if (rights != ACL_RT_MEM_ACCESS_FLAGS_NONE && rights != ACL_RT_MEM_ACCESS_FLAGS_READ &&
                rights != ACL_RT_MEM_ACCESS_FLAGS_READWRITE) {
                return Error(ACL_ERROR_RT_PARAM_INVALID,
                             "desc[{}].flags is {}; expected an aclrtMemAccessFlags", i, rights);
            }
            ADVSTEP_RETURN_IF_ERROR(
                CheckLocation(desc[i].location, "desc[" + std::to_string(i) + "].location"));
            access.push_back(
                {static_cast<uint32_t>(desc[i].location.type), desc[i].location.id, rights});
        }
        return TheVirtualMemory().SetAccess(virPtr, size, access);
    });
}

aclError aclrtMemGetAccess(void* virPtr, aclrtMemLocation* location, uint64_t* flag) {
    return AclBoundary("aclrtMemGetAccess", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(virPtr, "virPtr"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(location, "location"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(flag, "flag"));
        ADVSTEP_RETURN_IF_ERROR(CheckLocation(*location, "location"));
        uint32_t rights = 0;
        ADVSTEP_RETURN_IF_ERROR(TheVirtualMemory().GetAccess(
            virPtr, static_cast<uint32_t>(location->type), location->id, &rights));
        *flag = rights;
        return {};
    });
}

aclError aclrtMemRetainAllocationHandle(void* virPtr, aclrtDrvMemHandle* handle) {
    return AclBoundary("aclrtMemRetainAllocationHandle", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(virPtr, "virPtr"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        Handle found = 0;
        bool again = false;
        ADVSTEP_RETURN_IF_ERROR(TheVirtualMemory().Retain(virPtr, &found, &again));
        *handle = ToPointer(found);
        if (again) {
            NoteMade(ObjectKind::kPhysicalMemory, "aclrtMemRetainAllocationHandle", *handle);
        }
        return {};
    });
}

aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle,
                                                   aclrtPhysicalMemProp* prop) {
    return AclBoundary("aclrtMemGetAllocationPropertiesFromHandle", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(prop, "prop"));
        MemoryPlace place{nullptr};
        int32_t attribute = 0;
        ADVSTEP_RETURN_IF_ERROR(TheVirtualMemory().Describe(ToHandle(handle), &place, &attribute));
        aclrtPhysicalMemProp result{};
        result.handleType = ACL_MEM_HANDLE_TYPE_NONE;
        result.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
        result.memAttr = static_cast<aclrtMemAttr>(attribute);
        result.location.type = static_cast<aclrtMemLocationType>(place.type);
        result.location.id = place.id;
        *prop = result;
        return {};
    });
}

aclError aclrtMemGetAddressRange(void* ptr, void** pbase, size_t* psize) {
    return AclBoundary("aclrtMemGetAddressRange", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(ptr, "ptr"));
        if (pbase == nullptr && psize == nullptr) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "pbase and psize are null; expected one of them");
        }
        void* begin = nullptr;
        size_t bytes = 0;
        Allocation allocation;
        if (!TheVirtualMemory().FindMapping(ptr, &begin, &bytes)) {
            if (!TheDeviceMemory().Find(ptr, &allocation) ||
                allocation.origin == MemoryOrigin::kRegistered) {
                return Error(ACL_ERROR_RT_PARAM_INVALID,
                             "ptr is {}, in no block; expected an address of aclrtMalloc, "
                             "aclrtMallocHost, aclrtMapMem or an import",
                             ptr);
            }
            begin = reinterpret_cast<void*>(allocation.begin);
            bytes = allocation.bytes;
        }
        if (pbase != nullptr) {
            *pbase = begin;
        }
        if (psize != nullptr) {
            *psize = bytes;
        }
        return {};
    });
}

aclError aclrtReserveMemAddressNoUCMemory(void** virPtr, size_t size, size_t alignment,
                                          void* expectPtr, uint64_t flags) {
    constexpr size_t kGiB = size_t{1} << 30;
    const aclError refused = AclBoundary("aclrtReserveMemAddressNoUCMemory", [&]() -> Status {
        if (size == 0 || size % kGiB != 0) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "size is {:#x}; expected a multiple of 1 GiB",
                         size);
        }
        return RequireParameter(expectPtr, "expectPtr");
    });
    return refused != ACL_SUCCESS
               ? refused
               : aclrtReserveMemAddress(virPtr, size, alignment, expectPtr, flags);
}
