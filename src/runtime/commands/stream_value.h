// SPDX-License-Identifier: Apache-2.0
// Streams that write to, or wait for, a 64-bit word of memory.

#pragma once

#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/stream/stream.h"

namespace advstep {

/// Queue a store to, or a wait for, a 64-bit word of device or pinned memory. 107000: the address
/// is not a multiple of 8, no allocation has the word, or the flag is unknown. Codes also as
/// Stream::Enqueue.
Status EnqueueValueWrite(const StreamRef& stream, void* address, uint64_t value, uint32_t flag);
Status EnqueueValueWait(const StreamRef& stream, void* address, uint64_t value, uint32_t flag);

}  // namespace advstep
