// SPDX-License-Identifier: Apache-2.0
// The streams of all devices: the streams that callers know, and those that models make for
// themselves.

#pragma once

#include "src/base/status.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/stream/stream_workers.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// The streams that callers may know, the default streams, and the streams on which models are
/// executed. The table is never destroyed, because threads and queued work may outlive main().
HandleTable<Stream>& TheStreams();

/// The streams on which the branches of models run. No caller gets one of their handles.
HandleTable<Stream>& TheBranchStreams();

/// The threads that run the streams in the background.
StreamWorkers& TheWorkers();

/// Calls visit(Stream&) for every stream that is alive, also for one that is being made or
/// destroyed.
template <typename Visit>
void ForEachStream(Visit&& visit) {
    TheStreams().ForEach(visit);
    TheBranchStreams().ForEach(visit);
}

/// Calls visit(Stream&, Handle) for the streams of the context, also for those that another thread
/// is destroying. It needs no memory.
template <typename Visit>
void ForEachStreamOf(const Context* context, Visit&& visit) {
    ForEachStream([&](Stream& stream) {
        StreamIdentity identity;
        if (stream.BelongsTo(nullptr, context, &identity)) {
            visit(stream, identity.handle);
        }
    });
}

/// Makes the default stream of a context that is being made, and enters it there.
void CreateDefaultStream(ContextRef* context);

/// Creates a stream of the context. 107002: the context is not alive. 207008: the device has no
/// more streams, by the check of limits.
Status CreateStream(const ContextRef& context, uint32_t priority, uint32_t flags, Handle* handle);

/// Create streams that no caller knows: one on which a model is executed, and one for each further
/// branch. 107002: the context is not alive.
Status CreateHiddenStream(const ContextRef& context, Stream** stream, Handle* handle);
Status CreateBranchStream(const ContextRef& context, Stream** stream, Handle* handle);

/// Ends a stream to which no thread has subscribed; lifecycle/context_end.h ends the others. Codes
/// as Stream::Close.
Status DestroyStream(const StreamRef& reference, bool drop);

/// Gives the object of a closed stream back to its table.
void ReleaseStream(Stream* stream, Handle handle);

/// Waits for all work that is queued on the device now, also on streams that another thread is
/// destroying. Null: all devices.
Status DrainDevice(const Device* device, const WaitLimit& limit = kNoLimit);

/// As DrainDevice, except that an abort does not end the wait. 207000: a stream waits for a
/// callback of the calling thread.
Status DrainForTeardown(const Device* device);

/// Waits for all work that is queued on the device now. Returns the first unreported failure of its
/// streams, in the order of their creation, also of streams that are destroyed meanwhile. The
/// failures of that stream up to now count as reported. Codes also as WaitFor.
Status SynchronizeStreamsOf(const Device* device, const WaitLimit& limit = kNoLimit);

}  // namespace advstep
