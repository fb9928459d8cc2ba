#include "src/runtime/resources.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/capture.h"
#include "src/runtime/capture_registry.h"
#include "src/runtime/device.h"
#include "src/runtime/report.h"
#include "src/runtime/stream_state.h"

namespace advstep {
namespace {

std::atomic<int32_t> nextStreamId{0};

template <typename Visit>
void ForEachStream(Visit&& visit) {
    TheResources().streams.ForEach(visit);
    TheResources().branchStreams.ForEach(visit);
}

struct LiveStream {
    Stream* stream;
    StreamIdentity identity;
};

std::vector<LiveStream> LiveStreams(const Device* device, const Context* context) {
    std::vector<LiveStream> live;
    ForEachStream([&](Stream& stream) {
        StreamIdentity identity;
        if (stream.BelongsTo(device, context, &identity)) {
            live.push_back({&stream, identity});
        }
    });
    return live;
}

Status WaitForAll(const std::vector<LiveStream>& streams, const WaitLimit& limit) {
    std::vector<Ticket> places;
    places.reserve(streams.size());
    for (const LiveStream& live : streams) {
        places.push_back(live.stream->Now());
    }
    for (const Ticket& place : places) {
        ADVSTEP_RETURN_IF_ERROR(WaitFor(place, limit));
    }
    return {};
}

void ReleaseStream(Stream* stream, Handle handle) {
    Reports::Instance().Forget(handle);
    Resources& resources = TheResources();
    const bool branch = resources.branchStreams.Find(handle) == stream;
    (branch ? resources.branchStreams : resources.streams).Release(stream);
}

// Captures and graphs of the context end: what they have recorded cannot run any more.
void CloseGraphs(const ContextRef& context) {
    while (const auto session = CaptureRegistry::Instance().TakeOneOf(context.handle)) {
        AbandonCapture(session.get());
    }
    Resources& resources = TheResources();
    resources.graphs.ForEach([&](Graph& graph) {
        if (graph.CloseIfOf(context.handle)) {
            resources.graphs.Release(&graph);
        }
    });
}

void OpenStream(const HandleTable<Stream>::Entry& entry, const ContextRef& context,
                uint32_t priority, uint32_t flags, bool hidden = false) {
    StreamIdentity identity;
    identity.handle = entry.handle;
    identity.context = context;
    identity.id = nextStreamId.fetch_add(1, std::memory_order_relaxed);
    identity.priority = priority;
    identity.flags = flags;
    identity.hidden = hidden;
    entry.object->Open(identity, &TheResources().workers);
}

// The same for an entry that goes back if there is no memory.
HandleTable<Stream>::Entry AcquireStream(HandleTable<Stream>* table, const ContextRef& context,
                                         uint32_t priority, uint32_t flags, bool hidden) {
    const auto entry = table->Acquire();
    try {
        OpenStream(entry, context, priority, flags, hidden);
    } catch (...) {
        table->Release(entry.object);
        throw;
    }
    return entry;
}

// The context's streams, also those that another thread is destroying; without memory.
template <typename Visit>
void ForEachStreamOf(const Context* context, Visit&& visit) {
    ForEachStream([&](Stream& stream) {
        StreamIdentity identity;
        if (stream.BelongsTo(nullptr, context, &identity)) {
            visit(stream, identity.handle);
        }
    });
}

// 207000: a stream waits for a callback of the calling thread; with `force` the callbacks of such
// streams are dropped.
Status WaitForStreamsOf(const Context* context, bool force) {
    Status refused;
    ForEachStreamOf(context, [&](Stream& stream, Handle) {
        if (refused.ok()) {
            refused = WaitFor(stream.Now(), ToTheEnd());
        }
    });
    if (refused.ok() || !force) {
        return refused;
    }
    ForEachStreamOf(context, [](Stream&, Handle handle) { Reports::Instance().Forget(handle); });
    return {};
}

// False: another thread is destroying it and will release it.
bool CloseStream(Stream* stream, Handle handle, Handle caller) noexcept {
    try {
        return stream->Close(handle, caller, false).ok();
    } catch (const std::bad_alloc&) {
        return false;  // there was no memory to say so
    }
}

}  // namespace

Resources& TheResources() {
    static NeverDestroyed<Resources> resources;
    return *resources;
}

ContextRef CreateContext(Device* device, bool primary) {
    const auto entry = TheResources().contexts.Acquire();
    ContextRef made;
    made.context = entry.object;
    made.handle = entry.handle;
    made.device = device;
    made.primary = primary;
    HandleTable<Stream>& streams = TheResources().streams;
    Stream* opened = nullptr;
    try {
        const auto stream = streams.Acquire();
        opened = stream.object;
        made.defaultStream = stream.object;
        made.defaultStreamHandle = stream.handle;
        OpenStream(stream, made, 0, 0);  // which keeps all of `made` for its host functions
    } catch (...) {
        if (opened != nullptr) {
            streams.Release(opened);
        }
        TheResources().contexts.Release(entry.object);
        throw;
    }
    Context* const context = entry.object;
    context->device.store(device, std::memory_order_release);
    context->primary.store(primary, std::memory_order_release);
    context->stopOnFailure.store(false, std::memory_order_release);
    context->defaultStream.store(made.defaultStream, std::memory_order_release);
    context->defaultStreamHandle.store(made.defaultStreamHandle, std::memory_order_release);
    context->handle.store(entry.handle, std::memory_order_release);
    return made;
}

Status DestroyContext(const ContextRef& reference, bool force) {
    ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
    Handle expected = reference.handle;
    // From here on nobody finds it, so it gets no new streams.
    if (!reference.context->handle.compare_exchange_strong(expected, 0)) {
        return Error(ACL_ERROR_RT_CONTEXT_NULL,
                     "context {} is no context or has been destroyed; expected a live context",
                     ToPointer(reference.handle));
    }
    Status waited;
    try {
        waited = WaitForStreamsOf(reference.context, force);
    } catch (const std::bad_alloc&) {
        waited = Status(ACL_ERROR_BAD_ALLOC);
    }
    if (!waited.ok()) {
        reference.context->handle.store(reference.handle, std::memory_order_release);
        return waited;
    }
    // From here on nothing needs memory, so nothing is left half done.
    CloseGraphs(reference);  // also those that were begun while this waited
    ForEachStreamOf(reference.context, [&](Stream& stream, Handle handle) {
        if (CloseStream(&stream, handle, reference.handle)) {
            ReleaseStream(&stream, handle);
        }
    });
    TheResources().contexts.Release(reference.context);
    return {};
}

namespace {

Status MakeStream(HandleTable<Stream>* table, const ContextRef& context, uint32_t priority,
                  uint32_t flags, bool hidden, Stream** stream, Handle* handle) {
    const auto entry = AcquireStream(table, context, priority, flags, hidden);
    if (!context.alive()) {
        // Destroyed meanwhile, perhaps before the stream could be found there.
        (void)DestroyStream({entry.object, entry.handle, context.handle}, true);
        return Error(ACL_ERROR_RT_CONTEXT_NULL, "the current context has been destroyed");
    }
    *stream = entry.object;
    *handle = entry.handle;
    return {};
}

}  // namespace

Status CreateStream(const ContextRef& context, uint32_t priority, uint32_t flags, Handle* handle) {
    Stream* stream = nullptr;
    ADVSTEP_RETURN_IF_ERROR(
        MakeStream(&TheResources().streams, context, priority, flags, false, &stream, handle));
    TellStreamCreated(context, *handle);
    return {};
}

Status CreateHiddenStream(const ContextRef& context, Stream** stream, Handle* handle) {
    return MakeStream(&TheResources().streams, context, 0, 0, true, stream, handle);
}

Status CreateBranchStream(const ContextRef& context, Stream** stream, Handle* handle) {
    return MakeStream(&TheResources().branchStreams, context, 0, 0, true, stream, handle);
}

Status DestroyStream(const StreamRef& reference, bool drop) {
    if (drop) {
        ADVSTEP_RETURN_IF_ERROR(reference.stream->Drop(reference.handle, reference.caller));
        // Who sleeps on what the dropped work was waiting for has nothing to wait for any more.
        TheResources().workers.NudgeSleepers();
    }
    ADVSTEP_RETURN_IF_ERROR(reference.stream->Close(reference.handle, reference.caller, drop));
    ReleaseStream(reference.stream, reference.handle);
    return {};
}

Status RefuseInsideTask() {
    return InsideTask() ? Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                                "called from inside a host function, for which it might wait; "
                                "expected another thread")
                        : Status();
}

Status DrainDevice(const Device* device, const WaitLimit& limit) {
    return WaitForAll(LiveStreams(device, nullptr), limit);
}

Status DrainForTeardown(const Device* device) { return DrainDevice(device, ToTheEnd()); }

Status TakeDeviceFailure(const Device* device) {
    std::vector<LiveStream> live = LiveStreams(device, nullptr);
    std::sort(live.begin(), live.end(), [](const LiveStream& a, const LiveStream& b) {
        return a.identity.id < b.identity.id;
    });
    for (const LiveStream& entry : live) {
        // Failures of graphs' own streams are for who replays them.
        if (!entry.identity.hidden) {
            ADVSTEP_RETURN_IF_ERROR(entry.stream->TakeFailure());
        }
    }
    return {};
}

std::vector<Ticket> PendingPlaces() {
    std::vector<Ticket> places;
    ForEachStream([&](Stream& stream) {
        const Ticket now = stream.Now();
        if (!stream.Reached(now.sequence)) {
            places.push_back(now);
        }
    });
    return places;
}

}  // namespace advstep
