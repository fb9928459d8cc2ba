// SPDX-License-Identifier: Apache-2.0
// Blocks of device memory between processes, by keys.

#include "acl/acl_rt.h"
#include "src/acl/share_keys.h"
#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/runtime/device/device.h"
#include "src/runtime/device/peer_access.h"
#include "src/runtime/lifecycle/device_registry.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/memory/share_client.h"
#include "src/runtime/memory/share_server.h"
#include "src/runtime/stream/current.h"

using namespace advstep;

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
        ShareKey made = 0;
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
        ShareKey wanted = 0;
        ADVSTEP_RETURN_IF_ERROR(ReadShareKey(ShareKind::kBlock, key, "key", &wanted));
        ShareGrant grant;
        ADVSTEP_RETURN_IF_ERROR(FetchShared(ShareKind::kBlock, wanted, "key", &grant));
        PeerAccessRoom room;
        const int32_t owner = grant.device;
        ADVSTEP_RETURN_IF_ERROR(TheDeviceMemory().Import(current.device, std::move(grant), devPtr));
        if (flags != 0) {
            EnablePeersOfImport(current.device->id(), owner, &room);
        }
        NoteMade(ObjectKind::kImportedMemory, "aclrtIpcMemImportByKey", ToPointer(wanted));
        return {};
    });
}

aclError aclrtIpcMemClose(const char* key) {
    return AclBoundary("aclrtIpcMemClose", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(key, "key"));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        ShareKey wanted = 0;
        ADVSTEP_RETURN_IF_ERROR(ReadShareKey(ShareKind::kBlock, key, "key", &wanted));
        FreeingObject freeing(ObjectKind::kImportedMemory, ToPointer(wanted));
        if (TheDeviceMemory().CloseImport(wanted)) {
            freeing.Freed();
            return {};
        }
        if (!TheShareServer().Knows(wanted, ShareKind::kBlock)) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "key is {:#x}, of which this process has neither an import nor an export; "
                         "expected one that is not closed",
                         wanted);
        }
        TheDeviceMemory().CloseExport(wanted);
        return {};
    });
}

aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num) {
    return AclBoundary("aclrtIpcMemSetImportPid", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(key, "key"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(pid, "pid"));
        ADVSTEP_RETURN_IF_ERROR(CheckProcessCount(num));
        ShareKey wanted = 0;
        ADVSTEP_RETURN_IF_ERROR(ReadShareKey(ShareKind::kBlock, key, "key", &wanted));
        return TheShareServer().Allow(wanted, ShareKind::kBlock, pid, num, "key");
    });
}
