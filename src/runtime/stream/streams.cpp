// SPDX-License-Identifier: Apache-2.0
// Creates, finds and destroys streams.

#include "src/runtime/stream/streams.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <new>

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/sanitizer/device_sanitizer.h"
#include "src/runtime/stream/stream_callbacks.h"
#include "src/runtime/task/ticket.h"

namespace advstep {
namespace {

// The tables and the workers form one object because the workers refer to both tables. The child of
// a fork gets a new object.
struct StreamTables {
    HandleTable<Stream> streams{HandleKind::kStream};
    HandleTable<Stream> branches{HandleKind::kBranchStream};
    BusySet busy;  // of `streams`; the few branches are in none
    StreamWorkers workers{streams, &branches};
};

StreamTables& TheStreamTables() {
    static NeverDestroyed<StreamTables> tables;
    return *tables;
}

std::atomic<int32_t> nextStreamId{0};

struct LiveStream {
    Stream* stream;
    StreamIdentity identity;
};

// Calls visit(Stream&) for the streams that may have work or unreported failures. The cost grows
// with the busy streams, not with the live ones.
template <typename Visit>
void ForEachBusyStream(Visit&& visit) {
    TheStreamTables().busy.ForEach([&](uint32_t index) { visit(*TheStreams().At(index)); });
    TheBranchStreams().ForEach(visit);
}

std::vector<LiveStream> BusyStreams(const Device* device) {
    std::vector<LiveStream> busy;
    ForEachBusyStream([&](Stream& stream) {
        StreamIdentity identity;
        if (stream.BelongsTo(device, nullptr, &identity)) {
            busy.push_back({&stream, identity});
        } else {
            stream.LeaveBusySetIfIdle();
        }
    });
    return busy;
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

void OpenStream(const HandleTable<Stream>::Entry& entry, const ContextRef& context,
                uint32_t priority, uint32_t flags, bool hidden = false) {
    StreamIdentity identity;
    identity.handle = entry.handle;
    identity.context = context;
    identity.id = nextStreamId.fetch_add(1, std::memory_order_relaxed);
    identity.priority = priority;
    identity.flags = flags;
    identity.hidden = hidden;
    const bool known = static_cast<HandleKind>(entry.handle & 0xFF) == HandleKind::kStream;
    entry.object->Open(identity, &TheWorkers(), known ? &TheStreamTables().busy : nullptr);
}

// Opens a stream in a new entry, which is released again if there is no memory.
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

Status MakeStream(HandleTable<Stream>* table, const ContextRef& context, uint32_t priority,
                  uint32_t flags, bool hidden, Stream** stream, Handle* handle) {
    const auto entry = AcquireStream(table, context, priority, flags, hidden);
    if (!context.alive()) {
        // The context was destroyed meanwhile, perhaps by a thread that could not find the stream
        // yet.
        (void)DestroyStream({entry.object, entry.handle, context.handle}, true);
        return Error(ACL_ERROR_RT_CONTEXT_NULL, "the current context has been destroyed");
    }
    *stream = entry.object;
    *handle = entry.handle;
    return {};
}

}  // namespace

HandleTable<Stream>& TheStreams() { return TheStreamTables().streams; }

HandleTable<Stream>& TheBranchStreams() { return TheStreamTables().branches; }

StreamWorkers& TheWorkers() { return TheStreamTables().workers; }

void CreateDefaultStream(ContextRef* context) {
    const auto entry = TheStreams().Acquire();
    context->defaultStream = entry.object;
    context->defaultStreamHandle = entry.handle;
    try {
        // The stream keeps a copy of the context for its host functions.
        OpenStream(entry, *context, 0, 0);
    } catch (...) {
        TheStreams().Release(entry.object);
        throw;
    }
}

Status CreateStream(const ContextRef& context, uint32_t priority, uint32_t flags, Handle* handle) {
    ResourceHold hold;
    ADVSTEP_RETURN_IF_ERROR(ResourceHold::Take(context.device, DeviceResource::kStreams,
                                               ACL_ERROR_RT_NO_STREAM_RESOURCE, &hold));
    Stream* stream = nullptr;
    ADVSTEP_RETURN_IF_ERROR(
        MakeStream(&TheStreams(), context, priority, flags, false, &stream, handle));
    stream->Keep(std::move(hold));
    TellStreamCreated(context, *handle);
    return {};
}

Status CreateHiddenStream(const ContextRef& context, Stream** stream, Handle* handle) {
    return MakeStream(&TheStreams(), context, 0, 0, true, stream, handle);
}

Status CreateBranchStream(const ContextRef& context, Stream** stream, Handle* handle) {
    return MakeStream(&TheBranchStreams(), context, 0, 0, true, stream, handle);
}

Status DestroyStream(const StreamRef& reference, bool drop) {
    for (;;) {
        Status closed = reference.Close(drop);
        if (closed.ok()) {
            ReleaseStream(reference.stream, reference.handle);
            return {};
        }
        if (!drop || closed.code() != ACL_ERROR_RT_INVALID_HANDLE) {
            return closed;
        }
        bool closing = false;
        ADVSTEP_RETURN_IF_ERROR(reference.Drop(&closing));
        // Threads that sleep on what the dropped work was waiting for have nothing to wait for any
        // more.
        TheWorkers().Wake();
        TheWorkers().NudgeSleepers();
        if (closing) {
            // Another thread destroys the stream and waited for the work that is dropped now.
            return WaitFor(reference.stream->Now(), ToTheEnd());
        }
        // The other thread has given up meanwhile.
    }
}

void ReleaseStream(Stream* stream, Handle handle) {
    const bool branch = TheBranchStreams().Find(handle) == stream;
    (branch ? TheBranchStreams() : TheStreams()).Release(stream);
}

Status RefuseInsideTask() {
    return InsideTask() ? Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                                "called from inside a host function, for which it might wait; "
                                "expected another thread")
                        : Status();
}

Status DrainDevice(const Device* device, const WaitLimit& limit) {
    ADVSTEP_RETURN_IF_ERROR(WaitForAll(BusyStreams(device), limit));
    if (SanitizingWork()) {
        TheDeviceSanitizer().HostSeesDevice(device);  // also the streams that were idle
    }
    return {};
}

Status DrainForTeardown(const Device* device) { return DrainDevice(device, ToTheEnd()); }

Status SynchronizeStreamsOf(const Device* device, const WaitLimit& limit) {
    std::vector<LiveStream> busy = BusyStreams(device);
    std::sort(busy.begin(), busy.end(), [](const LiveStream& a, const LiveStream& b) {
        return a.identity.id < b.identity.id;
    });
    // All waits are entered before the first one begins. A stream that another thread ends
    // meanwhile hands its failures to its wait.
    std::list<Stream::WaitInList> waits;
    for (const LiveStream& live : busy) {
        if (live.identity.hidden) {
            waits.emplace_back(live.stream);  // the replays report the failures
        } else {
            waits.emplace_back(live.stream, 0);
        }
        if (!waits.back().EnterForAll(live.identity.handle)) {
            waits.pop_back();
        }
    }
    for (Stream::WaitInList& wait : waits) {
        ADVSTEP_RETURN_IF_ERROR(wait.Wait(limit));
    }
    if (SanitizingWork()) {
        TheDeviceSanitizer().HostSeesDevice(device);
    }
    for (Stream::WaitInList& wait : waits) {
        ADVSTEP_RETURN_IF_ERROR(wait.TakeFailure());
    }
    for (const LiveStream& live : busy) {
        live.stream->LeaveBusySetIfIdle();
    }
    return {};
}

std::vector<Ticket> PendingPlaces(const Device* device) {
    std::vector<Ticket> places;
    ForEachBusyStream([&](Stream& stream) {
        const Ticket last = stream.LastUse(device);
        if (!stream.Reached(last.sequence)) {
            places.push_back(last);
        }
    });
    return places;
}

void ListPendingMemory(const Ticket& place, TouchedMemory* touched) {
    place.stream->ListMemory(place.sequence, touched);
}

std::string NameOfStream(const Ticket& place) {
    StreamIdentity identity;
    if (!place.stream->BelongsTo(nullptr, nullptr, &identity)) {
        return "a stream that has been destroyed";
    }
    return identity.hidden ? "a replay" : fmt::format("stream {}", ToPointer(identity.handle));
}

}  // namespace advstep
