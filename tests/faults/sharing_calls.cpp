// SPDX-License-Identifier: Apache-2.0
// Memory, events and notifies between processes.
#include "faults/scene.h"
#include "support/child_process.h"

namespace faults {
namespace {

constexpr uint64_t kToAll = 1;
constexpr size_t kGiB = size_t{1} << 30;

int MakeShareable(void** handle) {
    aclrtPhysicalMemProp prop{};
    prop.memAttr = ACL_HBM_MEM;
    prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    return aclrtMallocPhysical(handle, kUnit, &prop, 0);
}

int ExportHere(Scene& s) {
    const int made = MakeShareable(&s.made);
    return First(
        {made, aclrtMemExportToShareableHandle(s.made, ACL_MEM_HANDLE_TYPE_NONE, 0, &s.number)});
}
int FreePhysical(Scene& s) { return aclrtFreePhysical(s.made); }

// Memory of another process, which ends with this one. s.number: its shareable handle.
template <void (*kExport)(support::Words*)>
int Elsewhere(Scene& s) {
    static auto* const other = new support::ChildProcess;
    const support::Words there = other->Run(kExport);
    s.number = there.at[0];
    return there.code;
}

void ExportThere(support::Words* w) {
    void* handle = nullptr;
    w->code = First(
        {aclrtSetDevice(0), MakeShareable(&handle),
         aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, kToAll, &w->at[0])});
}

// The same on the device 1 of both processes.
void ExportPeersThere(support::Words* w) {
    w->code = aclrtSetDevice(1);
    if (w->code == 0) {
        aclrtPhysicalMemProp prop{};
        prop.memAttr = ACL_HBM_MEM;
        prop.location = {1, ACL_MEM_LOCATION_TYPE_DEVICE};
        void* handle = nullptr;
        w->code = First(
            {aclrtMallocPhysical(&handle, kUnit, &prop, 0),
             aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, kToAll, &w->at[0])});
    }
}
int ExportPeersBlock(Scene& s) {
    const int set = aclrtSetDevice(1);
    const int made = aclrtMalloc(&s.more, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY);
    const int exported = aclrtIpcMemGetExportKey(s.more, 1, s.Key(), 65, kToAll);
    return First({set, made, exported, aclrtSetCurrentContext(s.context)});
}
// A failed import enables no access to the peer.
int FindNoPeer(Scene&) {
    return aclrtDeviceDisablePeerAccess(1) == ACL_ERROR_RT_PARAM_INVALID ? 0 : -1;
}

int ReserveAndMap(Scene& s) {
    const int made = MakeShareable(&s.more);
    const int reserved = aclrtReserveMemAddress(&s.made, kUnit, 0, nullptr, 0);
    return First({made, reserved, aclrtMapMem(s.made, kUnit, 0, s.more, 0)});
}
int UnmapAndRelease(Scene& s) {
    return First(
        {aclrtUnmapMem(s.made), aclrtFreePhysical(s.more), aclrtReleaseMemAddress(s.made)});
}

int ExportBlock(Scene& s) { return aclrtIpcMemGetExportKey(s.device, 1, s.Key(), 65, kToAll); }
int CloseBlock(Scene& s) { return aclrtIpcMemClose(s.Key()); }
int ExportNotify(Scene& s) { return aclrtNotifyGetExportKey(s.notify, s.Key(), 65, 2); }
int MakeSharedEvent(Scene& s) { return aclrtCreateEventExWithFlag(&s.made, ACL_EVENT_IPC); }
int DestroyMade(Scene& s) { return aclrtDestroyEvent(s.made); }

}  // namespace

std::vector<Call> SharingCalls() {
    return {
        {"aclrtMemExportToShareableHandle", [](Scene& s) -> int { return MakeShareable(&s.made); },
         [](Scene& s) -> int {
             return aclrtMemExportToShareableHandle(s.made, ACL_MEM_HANDLE_TYPE_NONE, kToAll,
                                                    &s.number);
         },
         &FreePhysical},
        {"aclrtMemExportToShareableHandleV2",
         [](Scene& s) -> int { return MakeShareable(&s.made); },
         [](Scene& s) -> int {
             return aclrtMemExportToShareableHandleV2(s.made, kToAll,
                                                      ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &s.number);
         },
         &FreePhysical},
        {"aclrtMemImportFromShareableHandle", &Elsewhere<ExportThere>,
         [](Scene& s) -> int { return aclrtMemImportFromShareableHandle(s.number, 0, &s.made); },
         &FreePhysical},
        {"aclrtMemImportFromShareableHandleOfAPeer", &Elsewhere<ExportPeersThere>,
         [](Scene& s) -> int { return aclrtMemImportFromShareableHandle(s.number, 0, &s.made); },
         &FreePhysical, false, &FindNoPeer},
        {"aclrtMemImportFromShareableHandleV2", &Elsewhere<ExportThere>,
         [](Scene& s) -> int {
             return aclrtMemImportFromShareableHandleV2(
                 &s.number, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0, &s.made);
         },
         &FreePhysical},
        {"aclrtMemSetPidToShareableHandle", &ExportHere,
         [](Scene& s) -> int {
             int32_t pid = 1;
             return aclrtMemSetPidToShareableHandle(s.number, &pid, 1);
         },
         &FreePhysical},
        {"aclrtMemSetPidToShareableHandleV2", &ExportHere,
         [](Scene& s) -> int {
             int32_t pid = 1;
             return aclrtMemSetPidToShareableHandleV2(&s.number, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT,
                                                      &pid, 1);
         },
         &FreePhysical},
        {"aclrtMemSetAccess", &ReserveAndMap,
         [](Scene& s) -> int {
             aclrtMemAccessDesc desc[2] = {
                 {ACL_RT_MEM_ACCESS_FLAGS_READ, {0, ACL_MEM_LOCATION_TYPE_HOST}, {}},
                 {ACL_RT_MEM_ACCESS_FLAGS_READ, {1, ACL_MEM_LOCATION_TYPE_HOST}, {}}};
             return aclrtMemSetAccess(s.made, kUnit, desc, 2);
         },
         &UnmapAndRelease},
        {"aclrtMemGetAccess", &ReserveAndMap,
         [](Scene& s) -> int {
             aclrtMemLocation location{0, ACL_MEM_LOCATION_TYPE_DEVICE};
             return aclrtMemGetAccess(s.made, &location, &s.number);
         },
         &UnmapAndRelease},
        {"aclrtMemRetainAllocationHandle", &ReserveAndMap,
         [](Scene& s) -> int { return aclrtMemRetainAllocationHandle(s.made, &s.more); },
         [](Scene& s) -> int {
             return First({aclrtFreePhysical(s.more), UnmapAndRelease(s)});
         }},
        {"aclrtMemGetAllocationPropertiesFromHandle", &ReserveAndMap,
         [](Scene& s) -> int {
             aclrtPhysicalMemProp prop{};
             return aclrtMemGetAllocationPropertiesFromHandle(s.more, &prop);
         },
         &UnmapAndRelease},
        ADVSTEP_PLAIN(aclrtMemGetAddressRange, s.device, &s.made, nullptr),
        {"aclrtReserveMemAddressNoUCMemory",
         [](Scene& s) -> int {  // an address that the host has free
             const int reserved = aclrtReserveMemAddress(&s.more, kGiB, kGiB, nullptr, 0);
             return First({reserved, aclrtReleaseMemAddress(s.more)});
         },
         [](Scene& s) -> int {
             return aclrtReserveMemAddressNoUCMemory(&s.made, kGiB, 0, s.more, 0);
         },
         [](Scene& s) -> int { return aclrtReleaseMemAddress(s.made); }},

        {"aclrtIpcMemGetExportKey", nullptr, &ExportBlock, &CloseBlock},
        {"aclrtIpcMemImportByKey", &ExportBlock,
         [](Scene& s) -> int { return aclrtIpcMemImportByKey(&s.made, s.Key(), 0); },
         &InTurn<CloseBlock, CloseBlock>},
        {"aclrtIpcMemImportByKeyOfAPeer", &ExportPeersBlock,
         [](Scene& s) -> int {
             return aclrtIpcMemImportByKey(&s.made, s.Key(),
                                           ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS);
         },
         [](Scene& s) -> int {
             return First({CloseBlock(s), CloseBlock(s), aclrtFree(s.more), aclrtResetDevice(1)});
         },
         false, &FindNoPeer},
        {"aclrtIpcMemClose",
         [](Scene& s) -> int {
             const int exported = ExportBlock(s);
             return First({exported, aclrtIpcMemImportByKey(&s.made, s.Key(), 0)});
         },
         &CloseBlock, &CloseBlock},
        {"aclrtIpcMemSetImportPid", &ExportBlock,
         [](Scene& s) -> int {
             int32_t pid = 1;
             return aclrtIpcMemSetImportPid(s.Key(), &pid, 1);
         },
         &CloseBlock},

        {"aclrtNotifyGetExportKey", nullptr, &ExportNotify, nullptr},
        {"aclrtNotifyImportByKey", &ExportNotify,
         [](Scene& s) -> int { return aclrtNotifyImportByKey(&s.made, s.Key(), 0); },
         [](Scene& s) -> int { return aclrtDestroyNotify(s.made); }},
        {"aclrtNotifySetImportPid", &ExportNotify,
         [](Scene& s) -> int {
             int32_t pid = 1;
             return aclrtNotifySetImportPid(s.notify, &pid, 1);
         },
         nullptr},
        ADVSTEP_PLAIN(aclrtNotifyBatchReset, &s.notify, 1),
        {"aclrtIpcGetEventHandle", &MakeSharedEvent,
         [](Scene& s) -> int {
             return aclrtIpcGetEventHandle(s.made, reinterpret_cast<aclrtIpcEventHandle*>(s.Key()));
         },
         &DestroyMade},
        {"aclrtIpcOpenEventHandle",
         [](Scene& s) -> int {
             const int made = aclrtCreateEventExWithFlag(&s.more, ACL_EVENT_IPC);
             return First({made, aclrtIpcGetEventHandle(
                                     s.more, reinterpret_cast<aclrtIpcEventHandle*>(s.Key()))});
         },
         [](Scene& s) -> int {
             aclrtIpcEventHandle handle = *reinterpret_cast<aclrtIpcEventHandle*>(s.Key());
             return aclrtIpcOpenEventHandle(handle, &s.made);
         },
         [](Scene& s) -> int {
             return First({DestroyMade(s), aclrtDestroyEvent(s.more)});
         }},
        {"aclrtCreateEventExWithFlagShared", nullptr, &MakeSharedEvent, &DestroyMade},
        {"aclrtRecordEventShared", &MakeSharedEvent,
         [](Scene& s) -> int { return aclrtRecordEvent(s.made, s.stream); }, &DestroyMade},
        {"aclrtDestroyEventShared", &MakeSharedEvent, &DestroyMade, nullptr},
    };
}

}  // namespace faults
