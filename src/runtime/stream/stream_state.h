// Who is told that streams come and go. Default streams, which come and go with their context, are
// not told of.
#pragma once

#include <vector>

#include "acl/rt/types.h"
#include "src/base/status.h"
#include "src/runtime/stream/stream_ref.h"

namespace advstep {

/// A callback under its name, in place of an earlier one. Null takes the name away; 107000: there
/// is none. A call under way in another thread may end after this.
Status SetStreamStateCallback(const char* name, aclrtStreamStateCallback callback, void* args);
void ForgetStreamStateCallbacks();

/// CREATE_POST; no lock is held.
void TellStreamCreated(const ContextRef& context, Handle handle);

/// DESTROY_PRE, once per stream however many threads are about to destroy it. No lock is held when
/// one is made. When it goes, those of its streams that still live count as not told of: their
/// destruction was refused.
class DestroyAnnouncement {
 public:
    DestroyAnnouncement() = default;
    ~DestroyAnnouncement();
    DestroyAnnouncement(const DestroyAnnouncement&) = delete;
    DestroyAnnouncement& operator=(const DestroyAnnouncement&) = delete;

    /// Codes as Stream::Close before it waits.
    Status Add(const StreamRef& stream);
    /// Every stream of the context; null: of all contexts.
    void AddAllOf(const Context* context);

 private:
    std::vector<StreamRef> announced_;
};

}  // namespace advstep
