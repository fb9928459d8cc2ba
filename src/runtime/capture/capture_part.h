// SPDX-License-Identifier: Apache-2.0
// The calls of conditional tasks, below the aclmdlRI functions.

#pragma once

#include "acl/acl_rt.h"
#include "src/base/status.h"
#include "src/runtime/stream/stream_ref.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// Variables, conditional tasks and captures of their sub-graphs. Codes as the aclmdlRI calls
/// (acl/rt/model_ri.h).
Status CreateCondition(Handle model, uint64_t launchValue, bool resets, Handle* handle);
Status FindConditionVariable(const void* handle, uint64_t** address);
Status AddConditionalTask(const aclmdlRICondTaskParams& params, const StreamRef& stream);
Status BeginPartCapture(const StreamRef& stream, const void* model, aclmdlRICaptureMode mode);

}  // namespace advstep
