// SPDX-License-Identifier: Apache-2.0
// Tasks that fail, delay or hold a stream, for tests of programs.

#pragma once

#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/stream/stream.h"

namespace advstep {

/// Queue the tasks of the calls of advance_step/fault_injection.h, for tests of programs. Codes as
/// Stream::Enqueue.
Status EnqueueFailure(const StreamRef& stream, int32_t code);
Status EnqueueDelay(const StreamRef& stream, uint64_t microseconds);

/// Queues a hold. 207000: the stream is being captured. Codes also as Stream::Enqueue.
Status EnqueueHold(const StreamRef& stream, uint64_t* hold);
/// 107000: there is no such hold.
Status ReleaseHold(uint64_t hold);
void ReleaseAllHolds();

}  // namespace advstep
