// SPDX-License-Identifier: Apache-2.0
// The parts of both phases that all operators share, the checks of their memory, and phase two.

#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "aclnn/acl_meta.h"
#include "advance_step/operator/core.h"
#include "advance_step/operator/workspace.hpp"
#include "op_kernel/common/kernel.h"
#include "src/aclnn/executor.h"
#include "src/base/status.h"
#include "src/runtime/device/device.h"

namespace advstep {

/// 161001: the pointer of the argument, such as an output's, is null.
Status RequireOutput(const void* pointer, const char* argument);

/// Finds the device for which phase one plans. 361001: the thread has no current context.
Status PlanningDevice(const Device** device);

/// Returns the number of vector cores that the calling thread may plan with on that device, by its
/// resource limits.
int32_t PlanningVectorCores(const Device& device);

/// Returns what an operator plans for.
AdvStepOperatorEnvironment EnvironmentOf(const Device& device);

/// Phase two of every operator: spends the executor (unless it is repeatable) and queues its
/// launch. A launch that takes longer than the limit of aclrtSetOpExecuteTimeOut at this call fails
/// with 507034. `call` is the name of the extern "C" function, and `owner` is the owner of the
/// operator's plans. 161002: the executor belongs to another operator, or to one of the same name
/// in another library. The other codes are those of aclnnAdvanceStep in its header.
Status RunExecutor(const char* call, const void* owner, void* workspace, uint64_t workspaceSize,
                   aclOpExecutor* executor, aclrtStream stream);

/// 107000: [address, address + bytes) is neither inside one allocation of the device nor inside
/// registered memory, which every device can use. The message contains `name`.
Status CheckRange(const Device& device, const char* name, const void* address, uint64_t bytes);

/// 107000: a tensor is not aligned to its elements or fails CheckRange. A successful check is valid
/// until memory is freed; `epoch` is that of DeviceMemory, read before. Until then it is not
/// repeated for the same executor, and rarely for the same addresses.
Status CheckTensorRanges(aclOpExecutor* executor, uint64_t epoch);

/// Returns the first aligned byte of a workspace.
inline uint8_t* AlignedWorkspace(void* workspace) {
    constexpr uintptr_t kMask = ::advance_step::op::WorkspaceLayout::kAlignment - 1;
    return reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(workspace) + kMask) & ~kMask);
}

}  // namespace advstep
