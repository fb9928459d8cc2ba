// SPDX-License-Identifier: Apache-2.0
// The creation of a stream, for all calls that create one.

#pragma once

#include <cstdint>

#include "acl/acl_rt.h"
#include "src/base/status.h"

namespace advstep {

/// Creates a stream of the current context, for the call of that name. 100000: stream is null.
/// 107000: the priority or the flags are unknown. 107002: the thread has no current context.
Status MakeStream(const char* call, aclrtStream* stream, uint32_t priority, uint32_t flag);

}  // namespace advstep
