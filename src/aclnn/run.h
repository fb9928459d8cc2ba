#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "aclnn/acl_meta.h"
#include "op_kernel/common/kernel.h"
#include "src/base/status.h"
#include "src/runtime/device/device.h"

namespace advstep {

/// 161001 for a null output argument.
Status RequireOutput(const void* pointer, const char* argument);

/// The device that phase one plans for. 361001: the thread has no current context.
Status PlanningDevice(const Device** device);

/// Vector cores that the calling thread may plan with on that device: its resource limits.
int32_t PlanningVectorCores(const Device& device);

/// Phase two of every operator: spends the executor (unless repeatable) and queues its launch.
/// `call` is the extern "C" function's name; an executor of another operator is 161002.
/// Codes: aclnnAdvanceStep in its header.
Status RunExecutor(const char* call, void* workspace, uint64_t workspaceSize,
                   aclOpExecutor* executor, aclrtStream stream);

}  // namespace advstep
