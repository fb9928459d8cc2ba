// SPDX-License-Identifier: Apache-2.0
// Memory, copies and fills, registered and virtual memory.
#include "faults/scene.h"

namespace faults {
namespace {

aclrtPhysicalMemProp Property() {
    return {ACL_MEM_HANDLE_TYPE_NONE,
            ACL_MEM_ALLOCATION_TYPE_PINNED,
            ACL_HBM_MEM,
            {0, ACL_MEM_LOCATION_TYPE_DEVICE},
            0};
}

int MakePhysical(void** handle) {
    const aclrtPhysicalMemProp property = Property();
    return aclrtMallocPhysical(handle, kUnit, &property, 0);
}

int Reserve(Scene& s) { return aclrtReserveMemAddress(&s.made, 2 * kUnit, 0, nullptr, 0); }
int ReserveAndMake(Scene& s) { return First({Reserve(s), MakePhysical(&s.more)}); }
int Map(Scene& s) { return aclrtMapMem(s.made, kUnit, 0, s.more, 0); }
int Unmap(Scene& s) { return aclrtUnmapMem(s.made); }
int Release(Scene& s) { return First({aclrtFreePhysical(s.more), aclrtReleaseMemAddress(s.made)}); }

// Two copies as a batch.
struct CopyBatch {
    explicit CopyBatch(Scene& s)
        : dsts{s.device, static_cast<char*>(s.device) + 64},
          srcs{s.pinned, static_cast<char*>(s.pinned) + 64} {}
    void* dsts[2];
    void* srcs[2];
    size_t sizes[2] = {64, 64};
    aclrtMemcpyBatchAttr attr = {
        {0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0, ACL_MEM_LOCATION_TYPE_HOST}, {}};
    size_t first = 0;
    size_t failIndex = 0;
};

}  // namespace

std::vector<Call> MemoryCalls() {
    return {
        ADVSTEP_MAKES(aclrtMalloc, aclrtFree, &s.made, 100, ACL_MEM_MALLOC_HUGE_FIRST),
        ADVSTEP_MAKES(aclrtMallocAlign32, aclrtFree, &s.made, 100, ACL_MEM_MALLOC_HUGE_FIRST),
        ADVSTEP_MAKES(aclrtMallocCached, aclrtFree, &s.made, 100, ACL_MEM_MALLOC_HUGE_FIRST),
        ADVSTEP_MAKES(aclrtMallocWithCfg, aclrtFree, &s.made, 100, ACL_MEM_MALLOC_HUGE_FIRST,
                      nullptr),
        ADVSTEP_MAKES(aclrtMallocForTaskScheduler, aclrtFree, &s.made, 100,
                      ACL_MEM_MALLOC_HUGE_FIRST, nullptr),
        ADVSTEP_MAKES(aclrtMallocHost, aclrtFreeHost, &s.made, 100),
        ADVSTEP_MAKES(aclrtMallocHostWithCfg, aclrtFreeHost, &s.made, 100, nullptr),
        {"aclrtHostRegisterV2", nullptr,
         [](Scene& s) -> int { return aclrtHostRegisterV2(s.pinned, kBytes, ACL_HOST_REG_MAPPED); },
         [](Scene& s) -> int { return aclrtHostUnregister(s.pinned); }},
        {"aclrtHostGetDevicePointer",
         [](Scene& s) -> int { return aclrtHostRegisterV2(s.pinned, kBytes, ACL_HOST_REG_MAPPED); },
         [](Scene& s) -> int { return aclrtHostGetDevicePointer(s.pinned, &s.made, 0); },
         [](Scene& s) -> int { return aclrtHostUnregister(s.pinned); }},
        ADVSTEP_PLAIN(aclrtHostMemMapCapabilities, 0, ACL_RT_HAC_TYPE_AIV,
                      reinterpret_cast<aclrtHostMemMapCapability*>(s.host)),
        ADVSTEP_PLAIN(advstepPoisonMemory, s.device, 64),
        ADVSTEP_PLAIN(advstepZeroMemory, s.device, 64),
        ADVSTEP_PLAIN(advstepUnpoisonMemory, s.device, 64),
        ADVSTEP_PLAIN(advstepSetScriptFrames, nullptr),
        ADVSTEP_TAKES(aclrtFree, aclrtMalloc(&s.made, 100, ACL_MEM_MALLOC_HUGE_FIRST), s.made),
        {"aclrtFreeWhileInUse",
         [](Scene& s) -> int {
             return First({aclrtMalloc(&s.made, 100, ACL_MEM_MALLOC_HUGE_FIRST),
                           advstepHoldStream(s.stream, &s.hold)});
         },
         [](Scene& s) -> int { return aclrtFree(s.made); },
         [](Scene& s) -> int { return advstepReleaseHold(s.hold); }},
        ADVSTEP_TAKES(aclrtFreeWithDevSync, aclrtMalloc(&s.made, 100, ACL_MEM_MALLOC_HUGE_FIRST),
                      s.made),
        ADVSTEP_TAKES(aclrtFreeHost, aclrtMallocHost(&s.made, 100), s.made),
        ADVSTEP_TAKES(aclrtFreeHostWithDevSync, aclrtMallocHost(&s.made, 100), s.made),
        {"aclrtHostRegister", nullptr,
         [](Scene& s) -> int {
             return aclrtHostRegister(s.host, sizeof(s.host), ACL_HOST_REGISTER_MAPPED, &s.made);
         },
         [](Scene& s) -> int { return aclrtHostUnregister(s.host); }},
        ADVSTEP_TAKES(aclrtHostUnregister,
                      aclrtHostRegister(s.host, sizeof(s.host), ACL_HOST_REGISTER_MAPPED, &s.made),
                      s.host),
        {"aclrtPointerGetAttributes", nullptr,
         [](Scene& s) -> int {
             aclrtPtrAttributes attributes;
             return aclrtPointerGetAttributes(s.device, &attributes);
         },
         nullptr},

        ADVSTEP_PLAIN(aclrtMemcpy, s.device, kBytes, s.host, 64, ACL_MEMCPY_HOST_TO_DEVICE),
        ADVSTEP_PLAIN(aclrtMemcpyAsync, s.device, kBytes, s.pinned, kBytes,
                      ACL_MEMCPY_HOST_TO_DEVICE, s.stream),
        {"aclrtMemcpyAsyncPageable", nullptr,
         [](Scene& s) -> int {
             return aclrtMemcpyAsync(s.device, kBytes, s.host, 64, ACL_MEMCPY_HOST_TO_DEVICE,
                                     s.stream);
         },
         nullptr},
        ADVSTEP_PLAIN(aclrtMemcpy2d, s.device, 8, s.pinned, 8, 8, 8, ACL_MEMCPY_HOST_TO_DEVICE),
        ADVSTEP_PLAIN(aclrtMemcpy2dAsync, s.device, 8, s.pinned, 8, 8, 8, ACL_MEMCPY_HOST_TO_DEVICE,
                      s.stream),
        {"aclrtMemcpyBatch", nullptr,
         [](Scene& s) -> int {
             CopyBatch b(s);
             return aclrtMemcpyBatch(b.dsts, b.sizes, b.srcs, b.sizes, 2, &b.attr, &b.first, 1,
                                     &b.failIndex);
         },
         nullptr},
        {"aclrtMemcpyBatchAsync", nullptr,
         [](Scene& s) -> int {
             CopyBatch b(s);
             return aclrtMemcpyBatchAsync(b.dsts, b.sizes, b.srcs, b.sizes, 2, &b.attr, &b.first, 1,
                                          &b.failIndex, s.stream);
         },
         nullptr},
        {"aclrtMemcpyBatchV2", nullptr,
         [](Scene& s) -> int {
             CopyBatch b(s);
             return aclrtMemcpyBatchV2(b.dsts, b.sizes, b.srcs, b.sizes, 2, &b.attr, &b.first, 1);
         },
         nullptr},
        {"aclrtMemcpyBatchAsyncV2", nullptr,
         [](Scene& s) -> int {
             CopyBatch b(s);
             return aclrtMemcpyBatchAsyncV2(b.dsts, b.sizes, b.srcs, b.sizes, 2, &b.attr, &b.first,
                                            1, s.stream);
         },
         nullptr},
        ADVSTEP_PLAIN(aclrtMemsetD32, s.device, kBytes, 7, kBytes / 4),
        ADVSTEP_PLAIN(aclrtMemsetD32Async, s.device, kBytes, 7, kBytes / 4, s.stream),
        ADVSTEP_PLAIN(aclrtMemFlush, s.device, kBytes),
        ADVSTEP_PLAIN(aclrtMemInvalidate, s.device, kBytes),
        ADVSTEP_PLAIN(aclrtMemP2PMap, s.device, kBytes, 1, 0),
        ADVSTEP_PLAIN(aclrtMemset, s.device, kBytes, 7, kBytes),
        ADVSTEP_PLAIN(aclrtMemsetAsync, s.device, kBytes, 7, kBytes, s.stream),

        {"aclrtReserveMemAddress", nullptr, &Reserve,
         [](Scene& s) -> int { return aclrtReleaseMemAddress(s.made); }},
        ADVSTEP_TAKES(aclrtReleaseMemAddress, Reserve(s), s.made),
        {"aclrtMallocPhysical", nullptr, [](Scene& s) { return MakePhysical(&s.made); },
         [](Scene& s) -> int { return aclrtFreePhysical(s.made); }},
        ADVSTEP_TAKES(aclrtFreePhysical, MakePhysical(&s.made), s.made),
        {"aclrtMapMem", &ReserveAndMake, &Map, &InTurn<Unmap, Release>},
        {"aclrtUnmapMem", &InTurn<ReserveAndMake, Map>, &Unmap, &Release},
        {"aclrtUnmapMemWhileInUse",
         [](Scene& s) -> int {
             return First({ReserveAndMake(s), Map(s), advstepHoldStream(s.stream, &s.hold)});
         },
         &Unmap,
         [](Scene& s) {
             return First({advstepReleaseHold(s.hold), Release(s)});
         }},
        {"aclrtMemGetAllocationGranularity", nullptr,
         [](Scene& s) -> int {
             aclrtPhysicalMemProp property = Property();
             return aclrtMemGetAllocationGranularity(&property,
                                                     ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM,
                                                     reinterpret_cast<size_t*>(s.host));
         },
         nullptr},
    };
}

}  // namespace faults
