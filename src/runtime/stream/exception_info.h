// SPDX-License-Identifier: Apache-2.0
// The report of a failed task to the exception callback.

#pragma once

#include <cstdint>

#include "acl/rt/types.h"
#include "src/runtime/stream/stream.h"

/// The public headers only declare it.
struct rtExceptionInfo {
    uint32_t taskId = 0;
    uint32_t streamId = 0;
    uint32_t threadId = 0;
    uint32_t deviceId = 0;
    uint32_t errorCode = 0;
};

namespace advstep {

/// Replaces the callback. Null: there is none. A call that is under way in another thread may end
/// after this call.
void SetExceptionCallback(aclrtExceptionInfoCallback callback);
bool HasExceptionCallback();

/// Calls the callback, if there is one, for task `sequence` of the stream, which the calling thread
/// has run. No lock is held.
void TellException(const StreamIdentity& identity, uint64_t sequence, int32_t code) noexcept;

}  // namespace advstep
