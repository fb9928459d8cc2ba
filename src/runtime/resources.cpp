#include "src/runtime/resources.h"

#include <algorithm>
#include <atomic>

#include "acl/acl_base.h"
#include "src/runtime/device.h"

namespace advstep {
namespace {

std::atomic<int32_t> nextStreamId{0};

struct LiveStream {
    Stream* stream;
    StreamIdentity identity;
};

std::vector<LiveStream> LiveStreams(const Device* device, const Context* context) {
    std::vector<LiveStream> live;
    TheResources().streams.ForEach([&](Stream& stream) {
        StreamIdentity identity;
        if (stream.AliveOn(device, context, &identity)) {
            live.push_back({&stream, identity});
        }
    });
    return live;
}

HandleTable<Stream>::Entry OpenStream(Context* context, Handle contextHandle, uint32_t priority,
                                      uint32_t flags) {
    Resources& resources = TheResources();
    const auto entry = resources.streams.Acquire();
    StreamIdentity identity;
    identity.handle = entry.handle;
    identity.context = context;
    identity.contextHandle = contextHandle;
    identity.device = context->device;
    identity.id = nextStreamId.fetch_add(1, std::memory_order_relaxed);
    identity.priority = priority;
    identity.flags = flags;
    entry.object->Open(identity, &resources.workers);
    return entry;
}

}  // namespace

Resources& TheResources() {
    static Resources* const resources = new Resources;
    return *resources;
}

ContextRef CreateContext(Device* device, bool primary) {
    const auto entry = TheResources().contexts.Acquire();
    Context* const context = entry.object;
    context->device = device;
    context->primary = primary;
    context->stopOnFailure.store(false, std::memory_order_relaxed);
    const auto stream = OpenStream(context, entry.handle, 0, 0);
    context->defaultStream = stream.object;
    context->defaultStreamHandle = stream.handle;
    context->handle.store(entry.handle, std::memory_order_release);
    return {context, entry.handle};
}

Status DestroyContext(const ContextRef& reference) {
    if (InsideTask()) {
        return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "called from inside a host function, for which it might wait; expected "
                     "another thread");
    }
    Handle expected = reference.handle;
    // From here on nobody finds it, so it gets no new streams.
    if (!reference.context->handle.compare_exchange_strong(expected, 0)) {
        return Error(ACL_ERROR_RT_CONTEXT_NULL,
                     "context {} is no context or has been destroyed; expected a live context",
                     ToPointer(reference.handle));
    }
    Resources& resources = TheResources();
    for (const LiveStream& live : LiveStreams(nullptr, reference.context)) {
        const Status closed = live.stream->Close(live.identity.handle, reference.handle, false);
        if (closed.ok()) {
            resources.streams.Release(live.stream);
        }
    }
    resources.contexts.Release(reference.context);
    return {};
}

Status CreateStream(const ContextRef& context, uint32_t priority, uint32_t flags, Handle* handle) {
    const auto entry = OpenStream(context.context, context.handle, priority, flags);
    if (!context.context->Alive(context.handle)) {
        // Destroyed meanwhile, perhaps before the stream could be found there.
        (void)DestroyStream({entry.object, entry.handle, context.handle}, true);
        return Error(ACL_ERROR_RT_CONTEXT_NULL, "the current context has been destroyed");
    }
    *handle = entry.handle;
    return {};
}

Status DestroyStream(const StreamRef& reference, bool drop) {
    ADVSTEP_RETURN_IF_ERROR(reference.stream->Close(reference.handle, reference.caller, drop));
    TheResources().streams.Release(reference.stream);
    return {};
}

Status DrainDevice(const Device* device) {
    std::vector<Ticket> places;
    for (const LiveStream& live : LiveStreams(device, nullptr)) {
        places.push_back(live.stream->Now());
    }
    for (const Ticket& place : places) {
        ADVSTEP_RETURN_IF_ERROR(WaitFor(place));
    }
    return {};
}

Status TakeDeviceFailure(const Device* device) {
    std::vector<LiveStream> live = LiveStreams(device, nullptr);
    std::sort(live.begin(), live.end(), [](const LiveStream& a, const LiveStream& b) {
        return a.identity.id < b.identity.id;
    });
    for (const LiveStream& entry : live) {
        ADVSTEP_RETURN_IF_ERROR(entry.stream->TakeFailure());
    }
    return {};
}

std::vector<Ticket> PendingPlaces() {
    std::vector<Ticket> places;
    TheResources().streams.ForEach([&](Stream& stream) {
        const Ticket now = stream.Now();
        if (!stream.Reached(now.sequence)) {
            places.push_back(now);
        }
    });
    return places;
}

}  // namespace advstep
