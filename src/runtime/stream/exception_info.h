// What is told of a failed task, and to whom.
#pragma once

#include <cstdint>

#include "acl/rt/types.h"
#include "src/runtime/stream/stream.h"

/// Public as an opaque struct.
struct rtExceptionInfo {
    uint32_t taskId = 0;
    uint32_t streamId = 0;
    uint32_t threadId = 0;
    uint32_t deviceId = 0;
    uint32_t errorCode = 0;
};

namespace advstep {

/// Null: nobody is told. A call under way in another thread may end after this.
void SetExceptionCallback(aclrtExceptionInfoCallback callback);
bool HasExceptionCallback();

/// Calls the callback, if there is one, for task `sequence` of the stream, which the calling thread
/// has run. No lock is held.
void TellException(const StreamIdentity& identity, uint64_t sequence, int32_t code) noexcept;

}  // namespace advstep
