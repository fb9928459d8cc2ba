#pragma once

#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/stream/stream_ref.h"

namespace advstep {

/// Tasks for tests of programs, as the calls of advance_step/fault_injection.h. Codes as
/// Stream::Enqueue.
Status EnqueueFailure(const StreamRef& stream, int32_t code);
Status EnqueueDelay(const StreamRef& stream, uint64_t microseconds);

/// 207000: the stream is captured.
Status EnqueueHold(const StreamRef& stream, uint64_t* hold);
/// 107000: no such hold.
Status ReleaseHold(uint64_t hold);
void ReleaseAllHolds();

}  // namespace advstep
