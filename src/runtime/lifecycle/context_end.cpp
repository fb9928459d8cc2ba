// SPDX-License-Identifier: Apache-2.0
// Ends a context: drains its streams, then destroys everything that belongs to it.

#include "src/runtime/lifecycle/context_end.h"

#include <pthread.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <new>

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/capture/capture.h"
#include "src/runtime/capture/model.h"
#include "src/runtime/commands/callbacks.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/task/ticket.h"

namespace advstep {
namespace {

// Ends the captures and the models of the context: their recorded work cannot run any more.
void CloseModels(const ContextRef& context) {
    while (const auto session = TheCaptureRegistry().TakeOneOf(context.handle)) {
        AbandonCapture(session.get());
    }
    // Sub-graphs come last: most end with their models, whose replays have used them until then.
    for (const bool subGraphs : {false, true}) {
        TheModels().ForEach([&](Model& model) {
            if (model.CloseIfOf(context.handle, 0, subGraphs)) {
                TheModels().Release(&model);
            }
        });
    }
}

// 207000: a stream waits for a callback of the calling thread. `force` drops the callbacks of the
// context's streams instead.
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
    ForEachStreamOf(context, [](Stream&, Handle handle) { TheCallbacks().Forget(handle); });
    return {};
}

// The numbers of threads that are in DestroyContext (`count`) and of contexts that have lost their
// handles there (`begun`). The mutex guards both; no lock is taken after it.
struct ContextEnds {
    std::mutex mutex;
    std::condition_variable changed;
    int32_t count = 0;
    uint64_t begun = 0;
};

ContextEnds& TheContextEnds() {
    static NeverDestroyed<ContextEnds> ends;
    return *ends;
}

class EndUnderWay {
 public:
    EndUnderWay() {
        const std::lock_guard<std::mutex> lock(ends_.mutex);
        ++ends_.count;
    }
    ~EndUnderWay() {
        const std::lock_guard<std::mutex> lock(ends_.mutex);
        --ends_.count;
        ends_.changed.notify_all();
    }
    void HandleIsGone() {
        const std::lock_guard<std::mutex> lock(ends_.mutex);
        ++ends_.begun;
        ends_.changed.notify_all();
    }
    EndUnderWay(const EndUnderWay&) = delete;
    EndUnderWay& operator=(const EndUnderWay&) = delete;

 private:
    ContextEnds& ends_ = TheContextEnds();
};

// Closes a stream. False: another thread is destroying it and will release it.
bool CloseStream(Stream* stream, Handle handle, Handle caller) noexcept {
    try {
        return stream->Close(handle, caller, false).ok();
    } catch (const std::bad_alloc&) {
        return false;  // there was no memory for the message
    }
}

}  // namespace

Status DestroyContext(const ContextRef& reference, bool force) {
    ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
    EndUnderWay underWay;  // counted before the handle is cleared, which hides the context
    Handle expected = reference.handle;
    // No call finds the context from now on, so it gets no new streams.
    if (!reference.context->handle.compare_exchange_strong(expected, 0)) {
        return Error(ACL_ERROR_RT_CONTEXT_NULL,
                     "context {} is no context or has been destroyed; expected a live context",
                     ToPointer(reference.handle));
    }
    underWay.HandleIsGone();
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
    // Nothing after this needs memory, so nothing is left half done.
    CloseModels(reference);  // also those that began while this waited
    ForEachStreamOf(reference.context, [&](Stream& stream, Handle handle) {
        if (CloseStream(&stream, handle, reference.handle)) {
            TheCallbacks().Forget(handle);
            ReleaseStream(&stream, handle);
        }
    });
    TheContexts().Release(reference.context);
    return {};
}

// The calling thread processes no callbacks while it waits. So the callbacks that the streams of
// ending contexts have for it are dropped. The thread that ends such a context would otherwise wait
// for ever.
bool WaitForContextEnds() {
    const auto self = static_cast<uint64_t>(pthread_self());
    ContextEnds& ends = TheContextEnds();
    std::unique_lock<std::mutex> lock(ends.mutex);
    const bool any = ends.count > 0;
    while (ends.count > 0) {
        const uint64_t begun = ends.begun;
        lock.unlock();
        ForEachStream([&](Stream& stream) {
            StreamIdentity identity;
            if (stream.BelongsTo(nullptr, nullptr, &identity) && !identity.context.alive()) {
                TheCallbacks().ForgetIfOf(identity.handle, self);
            }
        });
        TheWorkers().Wake();
        lock.lock();
        const NoCancellation noCancellation;
        ends.changed.wait(lock, [&] { return ends.count == 0 || ends.begun != begun; });
    }
    return any;
}

Status EndStream(const StreamRef& reference, bool drop) {
    ADVSTEP_RETURN_IF_ERROR(DestroyStream(reference, drop));
    TheCallbacks().Forget(reference.handle);
    return {};
}

}  // namespace advstep
