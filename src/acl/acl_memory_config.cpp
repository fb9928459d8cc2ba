// SPDX-License-Identifier: Apache-2.0
// Memory calls with a list of attributes.

#include "acl/acl_rt.h"
#include "src/acl/allocate.h"
#include "src/base/boundary.h"

using namespace advstep;

aclError aclrtMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy policy,
                            aclrtMallocConfig* cfg) {
    return AclBoundary("aclrtMallocWithCfg", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckMallocConfig(cfg));
        return AllocateDevice("aclrtMallocWithCfg", devPtr, size, policy);
    });
}

aclError aclrtMallocForTaskScheduler(void** devPtr, size_t size, aclrtMemMallocPolicy policy,
                                     aclrtMallocConfig* cfg) {
    return AclBoundary("aclrtMallocForTaskScheduler", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckMallocConfig(cfg));
        return AllocateDevice("aclrtMallocForTaskScheduler", devPtr, size, policy);
    });
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
    return AclBoundary("aclrtMallocCached",
                       [&] { return AllocateDevice("aclrtMallocCached", devPtr, size, policy); });
}

aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
    return AclBoundary("aclrtMallocHostWithCfg", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(ptr, "ptr"));
        ADVSTEP_RETURN_IF_ERROR(CheckMallocConfig(cfg));
        return AllocatePinned("aclrtMallocHostWithCfg", ptr, size);
    });
}
