#pragma once

#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/stream/stream_ref.h"

namespace advstep {

/// A stream that stores to, or waits for, a 64-bit word of device or pinned memory. Codes: 107000
/// an address that is not a multiple of 8 or lies in no allocation, an unknown flag; those of
/// Stream::Enqueue.
Status EnqueueValueWrite(const StreamRef& stream, void* address, uint64_t value, uint32_t flag);
Status EnqueueValueWait(const StreamRef& stream, void* address, uint64_t value, uint32_t flag);

}  // namespace advstep
