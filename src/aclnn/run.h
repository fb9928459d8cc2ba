// SPDX-License-Identifier: Apache-2.0
// The parts of both phases that all operators share, and phase two itself.

#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "aclnn/acl_meta.h"
#include "advance_step/operator/core.h"
#include "op_kernel/common/kernel.h"
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
/// launch. `call` is the name of the extern "C" function, and `owner` is the owner of the
/// operator's plans. 161002: the executor belongs to another operator, or to one of the same name
/// in another library. The other codes are those of aclnnAdvanceStep in its header.
Status RunExecutor(const char* call, const void* owner, void* workspace, uint64_t workspaceSize,
                   aclOpExecutor* executor, aclrtStream stream);

/// As RunExecutor, for operators of other libraries. A launch that takes longer than the limit of
/// aclrtSetOpExecuteTimeOut at this call fails with 507034.
Status RunTimedExecutor(const char* call, const void* owner, void* workspace,
                        uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);

}  // namespace advstep
