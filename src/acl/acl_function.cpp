// SPDX-License-Identifier: Apache-2.0
// The properties of a function of a device binary: name, address, attributes.

#include <cstring>

#include "acl/rt/binary.h"
#include "src/base/boundary.h"
#include "src/runtime/kernels/kernel_binaries.h"

using namespace advstep;

namespace {

/// Returns two uint16_t side by side: the numbers of vector cores and of cube cores.
int64_t RatioOf(CoreKind cores) {
    const uint16_t ratio[2] = {
        static_cast<uint16_t>(cores == CoreKind::kAiCore || cores == CoreKind::kVector),
        static_cast<uint16_t>(cores == CoreKind::kAiCore || cores == CoreKind::kCube)};
    int64_t value = 0;
    std::memcpy(&value, ratio, sizeof(ratio));
    return value;
}

int64_t TypeOf(CoreKind cores) {
    switch (cores) {
        case CoreKind::kCube:
            return ACL_KERNEL_TYPE_CUBE;
        case CoreKind::kVector:
            return ACL_KERNEL_TYPE_VECTOR;
        case CoreKind::kCpu:
            return ACL_KERNEL_TYPE_AICPU;
        default:
            return ACL_KERNEL_TYPE_AICORE;
    }
}

}  // namespace

aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char* name) {
    return AclBoundary("aclrtGetFunctionName", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcHandle, "funcHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(name, "name"));
        KernelFunction function;
        ADVSTEP_RETURN_IF_ERROR(TheKernelBinaries().Read(funcHandle, &function));
        const size_t bytes = std::strlen(function.name()) + 1;
        if (bytes > maxLen) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "maxLen is {}; expected at least {} for the name and its NUL", maxLen,
                         bytes);
        }
        std::memcpy(name, function.name(), bytes);
        return {};
    });
}

aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void** aicAddr, void** aivAddr) {
    return AclBoundary("aclrtGetFunctionAddr", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcHandle, "funcHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(aicAddr, "aicAddr"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(aivAddr, "aivAddr"));
        KernelFunction function;
        ADVSTEP_RETURN_IF_ERROR(TheKernelBinaries().Read(funcHandle, &function));
        if (function.cores == CoreKind::kCpu) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "funcHandle is the CPU kernel {}; expected a kernel for cores",
                         function.name());
        }
        *aicAddr = function.entry;
        *aivAddr = function.cores == CoreKind::kVector ? function.entry : nullptr;
        return {};
    });
}

aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle, aclrtFuncAttribute attrType,
                                   int64_t* attrValue) {
    return AclBoundary("aclrtGetFunctionAttribute", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcHandle, "funcHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(attrValue, "attrValue"));
        KernelFunction function;
        ADVSTEP_RETURN_IF_ERROR(TheKernelBinaries().Read(funcHandle, &function));
        switch (static_cast<int>(attrType)) {
            case ACL_FUNC_ATTR_KERNEL_TYPE:
                *attrValue = TypeOf(function.cores);
                return {};
            case ACL_FUNC_ATTR_KERNEL_RATIO:
                *attrValue = RatioOf(function.cores);
                return {};
            case ACL_FUNC_ATTR_KERNEL_SCHED_MODE:
                *attrValue = 0;
                return {};
            default:
                return Error(ACL_ERROR_RT_PARAM_INVALID,
                             "attrType is {}; expected KERNEL_TYPE 1, KERNEL_RATIO 2 or "
                             "KERNEL_SCHED_MODE 3",
                             static_cast<int>(attrType));
        }
    });
}
