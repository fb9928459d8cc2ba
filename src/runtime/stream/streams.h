// The streams of all devices: those that callers know, and those that models make for themselves.
#pragma once

#include "src/base/status.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/stream/stream_ref.h"
#include "src/runtime/stream/stream_workers.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// Streams that callers may know, with the default streams. Never destroyed, as all tables: threads
/// and queued work may outlive main().
HandleTable<Stream>& Streams();

/// Streams on which the branches of models run. No caller gets one of their handles.
HandleTable<Stream>& BranchStreams();

/// The threads that run the streams in the background.
StreamWorkers& Workers();

/// Calls visit(Stream&) for every stream there ever was, alive or not.
template <typename Visit>
void ForEachStream(Visit&& visit) {
    Streams().ForEach(visit);
    BranchStreams().ForEach(visit);
}

/// Calls visit(Stream&, Handle) for the streams of the context, also those that another thread is
/// destroying. Needs no memory.
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

/// A stream of the context. 107002: the context is not alive.
Status CreateStream(const ContextRef& context, uint32_t priority, uint32_t flags, Handle* handle);

/// Streams that no caller knows: one to run a model on, and one for each further branch. 107002:
/// the context is not alive.
Status CreateHiddenStream(const ContextRef& context, Stream** stream, Handle* handle);
Status CreateBranchStream(const ContextRef& context, Stream** stream, Handle* handle);

/// Ends a stream to which nobody has subscribed (end.h ends the others). Codes as Stream::Close.
Status DestroyStream(const StreamRef& reference, bool drop);

/// Gives the object of a closed stream back to its table.
void ReleaseStream(Stream* stream, Handle handle);

/// Waits for everything queued on the device now, also on streams that another thread is
/// destroying. Null: all devices.
Status DrainDevice(const Device* device, const WaitLimit& limit = {});

/// As DrainDevice, and an abort does not end it. 207000: a stream waits for a callback of the
/// calling thread.
Status DrainForTeardown(const Device* device);

/// The first unreported failure of the device's streams, in the order of their creation; it is
/// reported with this.
Status TakeDeviceFailure(const Device* device);

}  // namespace advstep
