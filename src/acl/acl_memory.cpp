#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/runtime/current.h"
#include "src/runtime/device.h"

using namespace advstep;

namespace {

constexpr uint32_t kPolicyBits = 0xFF;
constexpr uint32_t kMemoryTypeBits =
    ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH | ACL_MEM_ACCESS_USER_SPACE_READONLY;

Status CheckSize(size_t size) {
    return size > 0 ? Status()
                    : Error(ACL_ERROR_INVALID_PARAM, "size is 0; expected at least 1 byte");
}

Status Allocate(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devPtr, "devPtr"));
    ADVSTEP_RETURN_IF_ERROR(CheckSize(size));
    const auto bits = static_cast<uint32_t>(policy);
    if ((bits & kPolicyBits) > ACL_MEM_MALLOC_HUGE1G_ONLY_P2P ||
        (bits & ~(kPolicyBits | kMemoryTypeBits)) != 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "policy is {:#x}; expected an aclrtMemMallocPolicy", bits);
    }
    ContextRef current;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
    return TheResources().memory.Allocate(MemoryKind::kDevice, current.device, size, devPtr);
}

}  // namespace

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
    return AclBoundary("aclrtMalloc", [&] { return Allocate(devPtr, size, policy); });
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
    return AclBoundary("aclrtMallocAlign32", [&] { return Allocate(devPtr, size, policy); });
}

aclError aclrtFree(void* devPtr) {
    return AclBoundary("aclrtFree", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(devPtr, "devPtr"));
        return TheResources().memory.Free(MemoryKind::kDevice, devPtr);
    });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
    return AclBoundary("aclrtMallocHost", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(hostPtr, "hostPtr"));
        ADVSTEP_RETURN_IF_ERROR(CheckSize(size));
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        return TheResources().memory.Allocate(MemoryKind::kPinnedHost, nullptr, size, hostPtr);
    });
}

aclError aclrtFreeHost(void* hostPtr) {
    return AclBoundary("aclrtFreeHost", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(hostPtr, "hostPtr"));
        return TheResources().memory.Free(MemoryKind::kPinnedHost, hostPtr);
    });
}
