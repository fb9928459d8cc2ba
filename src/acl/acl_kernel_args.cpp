// SPDX-License-Identifier: Apache-2.0
// Argument blocks of kernel launches.

#include "acl/rt/kernel_args.h"

#include "src/base/boundary.h"
#include "src/runtime/kernels/kernel_args.h"
#include "src/runtime/kernels/kernel_binaries.h"

using namespace advstep;

namespace {

// The bytes of a block besides its parameters and data: 8 for the gap before each parameter, and 64
// in reserve.
constexpr size_t kGaps = 64 + 8 * kMostParameters;

}  // namespace

aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle* argsHandle) {
    return AclBoundary("aclrtKernelArgsInit", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcHandle, "funcHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(argsHandle, "argsHandle"));
        Handle made = 0;
        ADVSTEP_RETURN_IF_ERROR(KernelArgs::Make(funcHandle, &made));
        *argsHandle = ToPointer(made);
        return {};
    });
}

aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle,
                                      void* userHostMem, size_t actualArgsSize) {
    return AclBoundary("aclrtKernelArgsInitByUserMem", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcHandle, "funcHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(argsHandle, "argsHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(userHostMem, "userHostMem"));
        return KernelArgs::MakeAt(funcHandle, argsHandle, userHostMem, actualArgsSize);
    });
}

aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle, size_t* memSize) {
    return AclBoundary("aclrtKernelArgsGetHandleMemSize", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcHandle, "funcHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(memSize, "memSize"));
        KernelFunction function;
        ADVSTEP_RETURN_IF_ERROR(TheKernelBinaries().Read(funcHandle, &function));
        *memSize = KernelArgs::HandleBytes();
        return {};
    });
}

aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle, size_t userArgsSize,
                                   size_t* actualArgsSize) {
    return AclBoundary("aclrtKernelArgsGetMemSize", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(funcHandle, "funcHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(actualArgsSize, "actualArgsSize"));
        KernelFunction function;
        ADVSTEP_RETURN_IF_ERROR(TheKernelBinaries().Read(funcHandle, &function));
        if (userArgsSize > kMostArgs) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "userArgsSize is {}; expected at most {}",
                         userArgsSize, kMostArgs);
        }
        *actualArgsSize = userArgsSize + (function.cores == CoreKind::kCpu ? 0 : kGaps);
        return {};
    });
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void* param, size_t paramSize,
                               aclrtParamHandle* paramHandle) {
    return AclBoundary("aclrtKernelArgsAppend", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(argsHandle, "argsHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(param, "param"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(paramHandle, "paramHandle"));
        Handle made = 0;
        ADVSTEP_RETURN_IF_ERROR(KernelArgs::With(
            argsHandle, [&](ArgsBlock& block) { return block.Append(param, paramSize, &made); }));
        *paramHandle = ToPointer(made);
        return {};
    });
}

aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle,
                                          aclrtParamHandle* paramHandle) {
    return AclBoundary("aclrtKernelArgsAppendPlaceHolder", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(argsHandle, "argsHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(paramHandle, "paramHandle"));
        Handle made = 0;
        ADVSTEP_RETURN_IF_ERROR(KernelArgs::With(
            argsHandle, [&](ArgsBlock& block) { return block.AppendPlaceholder(&made); }));
        *paramHandle = ToPointer(made);
        return {};
    });
}

aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle,
                                             aclrtParamHandle paramHandle, size_t dataSize,
                                             void** bufferAddr) {
    return AclBoundary("aclrtKernelArgsGetPlaceHolderBuffer", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(argsHandle, "argsHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(paramHandle, "paramHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(bufferAddr, "bufferAddr"));
        return KernelArgs::With(argsHandle, [&](ArgsBlock& block) {
            return block.GetBuffer(ToHandle(paramHandle), dataSize, bufferAddr);
        });
    });
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle,
                                   void* param, size_t paramSize) {
    return AclBoundary("aclrtKernelArgsParaUpdate", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(argsHandle, "argsHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(paramHandle, "paramHandle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(param, "param"));
        return KernelArgs::With(argsHandle, [&](ArgsBlock& block) {
            return block.Update(ToHandle(paramHandle), param, paramSize);
        });
    });
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle) {
    return AclBoundary("aclrtKernelArgsFinalize", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(argsHandle, "argsHandle"));
        return KernelArgs::With(argsHandle, [](ArgsBlock& block) { return block.Finish(); });
    });
}
