// SPDX-License-Identifier: Apache-2.0
// The program's callbacks about streams: for the creation and the destruction of streams, and for
// tasks that fail.

#pragma once

#include <cstdint>
#include <vector>

#include "acl/rt/types.h"
#include "src/base/status.h"
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

// The callbacks for the creation and the destruction of streams. Default streams, which begin and
// end with their context, are not announced.

/// Registers a callback under its name, in place of an earlier one. A null callback removes the
/// name. 107000: there is no such name to remove. A call that is under way in another thread may
/// end after this call.
Status SetStreamStateCallback(const char* name, aclrtStreamStateCallback callback, void* args);
void ForgetStreamStateCallbacks();

/// Calls the callbacks with CREATE_POST. No lock is held.
void TellStreamCreated(const ContextRef& context, Handle handle);

/// Calls the callbacks with DESTROY_PRE, once per stream even if several threads are about to
/// destroy it. No lock is held when streams are added. The destructor withdraws the announcement of
/// the streams that still live, because their destruction was refused.
class DestroyAnnouncement {
 public:
    DestroyAnnouncement() = default;
    ~DestroyAnnouncement();
    DestroyAnnouncement(const DestroyAnnouncement&) = delete;
    DestroyAnnouncement& operator=(const DestroyAnnouncement&) = delete;

    /// Announces a stream. Codes as Stream::AnnounceDestroy.
    Status Add(const StreamRef& stream);
    /// Announces every stream of the context, or of all contexts if `context` is null.
    void AddAllOf(const Context* context);

 private:
    std::vector<StreamRef> announced_;
};

// The callbacks for failed tasks.

/// Replaces the first callback. Null: there is none. A call that is under way in another thread may
/// end after this call, and after the next two.
void SetExceptionCallback(aclrtExceptionInfoCallback callback);
/// Adds a callback, once. 207005: there are too many.
Status AddExceptionCallback(aclrtExceptionInfoCallback callback);
/// 107000: there is no such callback.
Status RemoveExceptionCallback(aclrtExceptionInfoCallback callback);
void ForgetExceptionCallbacks();
bool HasExceptionCallback();

/// Calls the callbacks for task `sequence` of the stream, which the calling thread has run. No lock
/// is held.
void TellException(const StreamIdentity& identity, uint64_t sequence, int32_t code) noexcept;

}  // namespace advstep
