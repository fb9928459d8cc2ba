#include "src/runtime/resources.h"

#include <algorithm>
#include <atomic>

#include "acl/acl_base.h"
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
    for (const auto& session : CaptureRegistry::Instance().TakeOf(context.handle)) {
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

}  // namespace

Resources& TheResources() {
    static Resources* const resources = new Resources;
    return *resources;
}

ContextRef CreateContext(Device* device, bool primary) {
    const auto entry = TheResources().contexts.Acquire();
    ContextRef made;
    made.context = entry.object;
    made.handle = entry.handle;
    made.device = device;
    made.primary = primary;
    const auto stream = TheResources().streams.Acquire();
    made.defaultStream = stream.object;
    made.defaultStreamHandle = stream.handle;
    OpenStream(stream, made, 0, 0);  // which keeps all of `made` for its host functions
    Context* const context = entry.object;
    context->device.store(device, std::memory_order_release);
    context->primary.store(primary, std::memory_order_release);
    context->stopOnFailure.store(false, std::memory_order_release);
    context->defaultStream.store(stream.object, std::memory_order_release);
    context->defaultStreamHandle.store(stream.handle, std::memory_order_release);
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
    const std::vector<LiveStream> streams = LiveStreams(nullptr, reference.context);
    if (Status waited = WaitForAll(streams, ToTheEnd()); !waited.ok()) {
        if (!force) {
            reference.context->handle.store(reference.handle, std::memory_order_release);
            return waited;
        }
        for (const LiveStream& live : streams) {
            Reports::Instance().Forget(live.identity.handle);
        }
    }
    CloseGraphs(reference);  // also those that were begun while this waited
    for (const LiveStream& live : streams) {
        // Fails for one that another thread is destroying and will release.
        if (live.stream->Close(live.identity.handle, reference.handle, false).ok()) {
            ReleaseStream(live.stream, live.identity.handle);
        }
    }
    TheResources().contexts.Release(reference.context);
    return {};
}

namespace {

Status MakeStream(HandleTable<Stream>* table, const ContextRef& context, uint32_t priority,
                  uint32_t flags, bool hidden, Stream** stream, Handle* handle) {
    const auto entry = table->Acquire();
    OpenStream(entry, context, priority, flags, hidden);
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
