// SPDX-License-Identifier: Apache-2.0
// Device, host, virtual and shared memory. An address is used by the action that made it, and so is
// never one that another thread has got since.
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "advance_step/fault_injection.h"
#include "chaos/actions.h"

namespace chaos {

void UseDeviceMemory(Worker& worker) {
    void* memory = nullptr;
    const auto size = static_cast<size_t>(worker.random.Size(4 << 20));
    if (CHAOS_CALL(aclrtMalloc, &memory, size, ACL_MEM_MALLOC_HUGE_FIRST) != 0) {
        return;
    }
    aclrtPtrAttributes attributes = {};
    (void)CHAOS_CALL(aclrtPointerGetAttributes, memory, &attributes);
    void* base = nullptr;
    size_t bytes = 0;
    (void)CHAOS_CALL(aclrtMemGetAddressRange, memory, &base, &bytes);
    if (worker.world.ends == Ends::kAll) {
        // Another thread may have freed it by a reset, and a third one may have it now.
        return;
    }
    const size_t filled = std::min<size_t>(size, 65536);
    const bool isOwn = worker.MakeOwn();
    if (isOwn && worker.random.OneIn(2)) {
        (void)CHAOS_CALL(aclrtMemsetAsync, memory, size, 5, filled, worker.ownStream);
    } else if (isOwn) {
        (void)CHAOS_CALL(aclrtMemset, memory, size, 6, filled);
    }
    if (worker.random.OneIn(4)) {
        (void)CHAOS_CALL(aclrtFreeWithDevSync, memory);
    } else {
        (void)CHAOS_CALL(aclrtFree, memory);
    }
    if (worker.random.OneIn(16)) {
        (void)CHAOS_CALL(aclrtMalloc, &memory, size_t{1} << 60, ACL_MEM_MALLOC_HUGE_ONLY);
    }
}

void UseHostMemory(Worker& worker) {
    if (worker.world.ends == Ends::kAll || worker.random.OneIn(2)) {
        Bytes bytes(static_cast<size_t>(worker.random.Size(100000)));
        void* mapped = nullptr;
        const int code = CHAOS_CALL(aclrtHostRegister, bytes.data(), bytes.size(),
                                    ACL_HOST_REGISTER_MAPPED, &mapped);
        if (code == 0 && worker.MakeOwn()) {
            (void)CHAOS_CALL(advstepDelayStream, worker.ownStream, 300);
            (void)CHAOS_CALL(aclrtMemsetAsync, mapped, bytes.size(), 3, bytes.size(),
                             worker.ownStream);
        }
        if (code == 0) {
            (void)CHAOS_CALL(aclrtHostGetDevicePointer, bytes.data(), &mapped, 0);
            if (CHAOS_CALL(aclrtHostUnregister, bytes.data()) != 0) {
                worker.Keep(std::move(bytes));  // its fill may still run
            }
        }
        return;
    }
    void* memory = nullptr;
    const auto size = static_cast<size_t>(worker.random.Size(100000));
    if (CHAOS_CALL(aclrtMallocHost, &memory, size) != 0) {
        return;
    }
    if (worker.MakeOwn()) {
        (void)CHAOS_CALL(aclrtMemsetAsync, memory, size, 1, size, worker.ownStream);
    }
    (void)CHAOS_CALL(aclrtFreeHost, memory);
}

void UseVirtualMemory(Worker& worker) {
    aclrtPhysicalMemProp properties = {};
    properties.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    properties.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    properties.memAttr = ACL_HBM_MEM_HUGE;
    properties.location = {static_cast<uint32_t>(worker.index), ACL_MEM_LOCATION_TYPE_DEVICE};
    size_t granularity = 0;
    if (CHAOS_CALL(aclrtMemGetAllocationGranularity, &properties,
                   ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity) != 0) {
        return;
    }
    aclrtDrvMemHandle handle = nullptr;
    void* address = nullptr;
    const size_t size = granularity * static_cast<size_t>(worker.random.Between(1, 3));
    const bool hasHandle = CHAOS_CALL(aclrtMallocPhysical, &handle, size, &properties, 0) == 0;
    const bool hasAddress =
        CHAOS_CALL(aclrtReserveMemAddress, &address, 2 * size, 0, nullptr, 0) == 0;
    if (hasHandle && hasAddress && CHAOS_CALL(aclrtMapMem, address, size, 0, handle, 0) == 0) {
        if (worker.world.ends == Ends::kNone && worker.MakeOwn()) {
            (void)CHAOS_CALL(aclrtMemsetAsync, address, size, 1, 4096, worker.ownStream);
        }
        aclrtDrvMemHandle retained = nullptr;
        if (CHAOS_CALL(aclrtMemRetainAllocationHandle, address, &retained) == 0) {
            (void)CHAOS_CALL(aclrtFreePhysical, retained);
        }
        (void)CHAOS_CALL(aclrtUnmapMem, address);
    }
    if (worker.random.OneIn(2) && hasHandle) {
        uint64_t shared = 0;
        if (CHAOS_CALL(aclrtMemExportToShareableHandle, handle, ACL_MEM_HANDLE_TYPE_NONE,
                       ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION, &shared) == 0) {
            aclrtDrvMemHandle imported = nullptr;
            if (CHAOS_CALL(aclrtMemImportFromShareableHandle, shared, worker.index, &imported) ==
                0) {
                (void)CHAOS_CALL(aclrtFreePhysical, imported);
            }
        }
    }
    if (hasHandle) {
        (void)CHAOS_CALL(aclrtFreePhysical, handle);
    }
    if (hasAddress) {
        (void)CHAOS_CALL(aclrtReleaseMemAddress, address);
    }
}

void ShareMemory(Worker& worker) {
    char key[65] = {};
    auto pid = static_cast<int32_t>(getpid());
    aclrtNotify notify = worker.OneOf(worker.world.notifies);
    if (worker.random.OneIn(2)) {
        if (CHAOS_CALL(aclrtNotifyGetExportKey, notify, key, sizeof(key), 0) == 0 &&
            CHAOS_CALL(aclrtNotifySetImportPid, notify, &pid, 1) == 0 &&
            CHAOS_CALL(aclrtNotifyImportByKey, &notify, key, 0) == 0) {
            (void)CHAOS_CALL(aclrtDestroyNotify, notify);
        }
        return;
    }
    void* memory = nullptr;
    void* imported = nullptr;
    if (worker.world.ends == Ends::kAll ||
        CHAOS_CALL(aclrtMalloc, &memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST) != 0) {
        return;
    }
    if (CHAOS_CALL(aclrtIpcMemGetExportKey, memory, 4096, key, sizeof(key),
                   ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION) == 0) {
        (void)CHAOS_CALL(aclrtIpcMemImportByKey, &imported, key, 0);
        (void)CHAOS_CALL(aclrtIpcMemClose, key);
    }
    (void)CHAOS_CALL(aclrtFree, memory);
}

}  // namespace chaos
