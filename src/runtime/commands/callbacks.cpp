// SPDX-License-Identifier: Apache-2.0
// Implements subscriptions, posts and the thread that processes callbacks.

#include "src/runtime/commands/callbacks.h"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <new>

#include "acl/acl_base.h"
#include "src/base/boundary.h"
#include "src/base/fork.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/base/sanitizer.h"
#include "src/base/sanitizer_scope.h"
#include "src/runtime/sanitizer/device_sanitizer.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/task/running_work.h"
#include "src/runtime/task/thread_watch.h"

namespace advstep {

namespace {

thread_local int callbackDepth = 0;

const ForkHook forgetCallbackDepth([](void*) noexcept { callbackDepth = 0; });

// Tells the callbacks when its thread ends.
struct ListenerEnd {
    ~ListenerEnd() { TheCallbacks().ThreadEnds(static_cast<uint64_t>(pthread_self())); }
};

// A callback goes to a thread that has ended. `queued`: callbacks that wait for the thread.
void TellEnded(uint64_t thread, Handle stream, size_t queued) noexcept {
    if (!Sanitizing(SanitizerCheck::kSync)) {
        return;
    }
    const SanitizerScope own;
    try {
        Finding finding(
            SanitizerCheck::kSync, "callback_thread_ended",
            fmt::format("{} callback{} of stream {} will never run: thread {:#x}, which is "
                        "subscribed to it, has ended",
                        queued, queued == 1 ? "" : "s", ToPointer(stream), thread));
        finding.Line(
            "a stream waits for ever for a callback of ACL_CALLBACK_BLOCK; expected "
            "aclrtUnSubscribeReport");
        finding.Line(
            "before the thread ends, or a thread that calls aclrtProcessReport as long as "
            "there are callbacks");
        finding.fields().AddAddress("stream", ToPointer(stream));
        finding.fields().Add("callbacks", static_cast<uint64_t>(queued));
        Report(finding);
    } catch (const std::exception&) {
    }
}

// An exception is not left to the boundary of the call, which would take it for the library's own.
Status CallCatching(aclrtCallback function, void* userData) noexcept {
    constexpr const char* kSubject = "the callback";
    try {
        function(userData);
        return {};
    } catch (const std::exception& error) {
        return ErrorOfThrown(ACL_ERROR_INTERNAL_ERROR, kSubject, error.what());
    } catch (...) {
        return ErrorOfThrown(ACL_ERROR_INTERNAL_ERROR, kSubject,
                             TextOfCaught("not a std::exception"));
    }
}

}  // namespace

bool InsideCallback() { return callbackDepth > 0; }

// Posts its callback when it becomes the front, and with `block` waits there until the callback has
// run.
struct Callbacks::CallbackTask : PollWaitTask {
    aclrtCallback function;
    void* userData;
    Handle stream;  // of the call
    Handle replay;  // the stream of the replay; 0: the task is no part of one
    bool block;
    bool posted;
    bool noMemory;
    uint64_t id;

    /// Returns the place of the task that is the front of its stream, and tells the sanitizer that
    /// the host sees it.
    static Ticket PlaceOf(const CallbackTask& task) {
        if (!SanitizingWork()) {
            return {};
        }
        Stream* const stream = TheStreams().Find(task.replay != 0 ? task.replay : task.stream);
        if (stream == nullptr) {
            return {};
        }
        const Ticket place = stream->Front();
        TheDeviceSanitizer().HostSees(place.stream, place.sequence);
        return place;
    }

    static bool Holds(PollWaitTask& base) {
        auto& task = static_cast<CallbackTask&>(base);
        Callbacks& all = TheCallbacks();
        if (!task.posted) {
            task.posted = true;
            try {
                task.thread = all.Post(
                    {0, task.stream, task.function, task.userData, PlaceOf(task), task.block},
                    task.replay, &task.id);
            } catch (const std::bad_alloc&) {
                task.noMemory = true;
            }
        }
        return task.thread == 0 || !task.block || !all.Pending(task.id);
    }

    static WaitFacts Explain(const PollWaitTask& base) {
        const auto& task = static_cast<const CallbackTask&>(base);
        WaitFacts facts;
        facts.giver = WaitGiver::kThread;
        facts.thread = task.thread;
        facts.holds = !task.posted || task.thread == 0 || !TheCallbacks().Pending(task.id);
        facts.text = fmt::format("a callback that thread {:#x} has to run in aclrtProcessReport",
                                 task.thread);
        return facts;
    }

    static Status Run(const Task& base) {
        const auto& task = static_cast<const CallbackTask&>(base);
        if (task.noMemory) {
            return Status(ACL_ERROR_BAD_ALLOC);
        }
        if (task.thread != 0) {
            return {};
        }
        return task.replay == 0 || task.replay == task.stream
                   ? Error(ACL_ERROR_RT_STREAM_NO_CB_REG,
                           "aclrtLaunchCallback: no thread is subscribed to stream {} any more; "
                           "expected aclrtSubscribeReport to last until the callback has run",
                           ToPointer(task.stream))
                   : Error(ACL_ERROR_RT_STREAM_NO_CB_REG,
                           "aclrtLaunchCallback: no thread is subscribed to the captured stream {} "
                           "or the replay's stream {}; expected aclrtSubscribeReport to last until "
                           "the callback has run",
                           ToPointer(task.stream), ToPointer(task.replay));
    }
};

Callbacks& TheCallbacks() {
    static NeverDestroyed<Callbacks> all;
    return *all;
}

Status Callbacks::Subscribe(uint64_t thread, const StreamRef& stream) {
    // The stream's lock keeps it alive until the entry is there, which its end then removes.
    return stream.Inspect([&](const StreamIdentity&) -> Status {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto [entry, added] = threads_.emplace(stream.handle, thread);
        ended_.erase(thread);  // a new thread has its number
        return added ? Status()
                     : Error(ACL_ERROR_RT_STREAM_SUBSCRIBE,
                             "stream {} is subscribed to by thread {}; expected "
                             "aclrtUnSubscribeReport before",
                             ToPointer(stream.handle), entry->second);
    });
}

Status Callbacks::Unsubscribe(uint64_t thread, const char* argument, const StreamRef& stream) {
    ADVSTEP_RETURN_IF_ERROR(stream.Check());
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto entry = threads_.find(stream.handle);
        if (entry == threads_.end()) {
            return Error(ACL_ERROR_RT_STREAM_NO_CB_REG,
                         "no thread is subscribed to stream {}; expected aclrtSubscribeReport "
                         "before",
                         ToPointer(stream.handle));
        }
        if (entry->second != thread) {
            return Error(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                         "{} is {}; expected {}, which is subscribed to stream {}", argument,
                         thread, entry->second, ToPointer(stream.handle));
        }
        DropLocked(stream.handle);
    }
    TheWorkers().Wake();
    return {};
}

void Callbacks::DropLocked(Handle stream) {
    threads_.erase(stream);
    for (auto& [thread, callbacks] : callbacks_) {
        callbacks.erase(std::remove_if(callbacks.begin(), callbacks.end(),
                                       [&](const Callback& callback) {
                                           if (callback.stream != stream) {
                                               return false;
                                           }
                                           pending_.erase(callback.id);
                                           return true;
                                       }),
                        callbacks.end());
    }
    for (auto entry = callbacks_.begin(); entry != callbacks_.end();) {
        const bool unused = entry->second.empty() && !SubscribedLocked(entry->first);
        entry = unused ? callbacks_.erase(entry) : std::next(entry);
    }
    posted_.notify_all();  // a waiting thread may not be subscribed any more
}

void Callbacks::Forget(Handle stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (threads_.count(stream) != 0) {
        DropLocked(stream);
    }
}

void Callbacks::ForgetIfOf(Handle stream, uint64_t thread) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto entry = threads_.find(stream);
    if (entry != threads_.end() && entry->second == thread) {
        DropLocked(stream);
    }
}

Status Callbacks::Launch(aclrtCallback function, void* userData, bool block,
                         const StreamRef& stream) {
    ADVSTEP_RETURN_IF_ERROR(stream.Check());
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (threads_.count(stream.handle) == 0) {
            return Error(ACL_ERROR_RT_STREAM_NO_CB_REG,
                         "no thread is subscribed to stream {}; expected aclrtSubscribeReport "
                         "before",
                         ToPointer(stream.handle));
        }
    }
    RunningWork::DescribeCrashes();
    static constexpr TaskType kType = {
        nullptr, nullptr, nullptr, nullptr, false, &CallbackTask::Explain, true};
    Work work(sizeof(CallbackTask));
    work.role = Work::Role::kCallback;
    return stream.Enqueue(work, [&](void* memory) {
        auto* const task = new (memory) CallbackTask;
        task->name = "callback";
        task->type = &kType;
        task->kind = TaskKind::kPollWait;
        task->holds = &CallbackTask::Holds;
        task->run = &CallbackTask::Run;
        task->function = function;
        task->userData = userData;
        task->stream = stream.handle;
        task->replay = 0;
        task->block = block;
        task->posted = false;
        task->noMemory = false;
        return task;
    });
}

void Callbacks::SetReplay(Task* record, Handle stream) {
    static_cast<CallbackTask*>(record)->replay = stream;
}

uint64_t Callbacks::ThreadToWaitFor(const Task& record) {
    const auto& task = static_cast<const CallbackTask&>(record);
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto entry = threads_.find(task.stream);
    return task.block && entry != threads_.end() ? entry->second : 0;
}

uint64_t Callbacks::Post(Callback callback, Handle replay, uint64_t* id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto entry = threads_.find(callback.stream);
    if (entry == threads_.end()) {
        entry = threads_.find(replay);
    }
    if (entry == threads_.end()) {
        return 0;
    }
    callback.stream = entry->first;  // the end of this subscription drops the callback
    std::deque<Callback>& callbacks = callbacks_[entry->second];
    *id = ++lastId_;
    pending_.emplace(*id, callback.stream);
    try {
        callbacks.push_back(callback);
    } catch (...) {
        pending_.erase(*id);
        throw;
    }
    callbacks.back().id = *id;
    posted_.notify_all();
    if (__builtin_expect(!ended_.empty(), 0) && ended_.count(entry->second) != 0) {
        TellEnded(entry->second, callback.stream, callbacks.size());
    }
    return entry->second;
}

bool Callbacks::Pending(uint64_t id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return pending_.count(id) != 0;
}

bool Callbacks::SubscribedLocked(uint64_t thread) const {
    return std::any_of(threads_.begin(), threads_.end(),
                       [&](const auto& entry) { return entry.second == thread; });
}

void Callbacks::ThreadEnds(uint64_t thread) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!SubscribedLocked(thread)) {
        return;
    }
    try {
        ended_.insert(thread);
    } catch (const std::bad_alloc&) {
        return;
    }
    const auto queued = callbacks_.find(thread);
    if (queued != callbacks_.end() && !queued->second.empty()) {
        TellEnded(thread, queued->second.front().stream, queued->second.size());
    }
}

Status Callbacks::Process(const WaitLimit& limit) {
    const NoCancellation noCancellation;
    const auto self = static_cast<uint64_t>(pthread_self());
    const DoingScope doing(limit);
    if (Sanitizing(SanitizerCheck::kSync)) {
        thread_local const ListenerEnd end;
        (void)end;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    if (!ended_.empty()) {
        ended_.erase(self);  // an ended thread had its number
    }
    for (;;) {
        if (!SubscribedLocked(self)) {
            return Error(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                         "thread {} is subscribed to no stream; expected aclrtSubscribeReport with "
                         "its pthread_self()",
                         self);
        }
        std::deque<Callback>& callbacks = callbacks_[self];
        if (!callbacks.empty()) {
            const Callback callback = callbacks.front();
            callbacks.pop_front();
            lock.unlock();
            // The stream continues after the callback, even if the callback throws.
            const struct Ended {
                Callbacks* owner;
                uint64_t id;
                ~Ended() {
                    --callbackDepth;
                    {
                        const std::lock_guard<std::mutex> guard(owner->mutex_);
                        owner->pending_.erase(id);
                    }
                    TheWorkers().Wake();
                }
            } ended{this, callback.id};
            ++callbackDepth;
            const RunningWork running("callback", "aclrtLaunchCallback",
                                      ToPointer(callback.stream));
            if (callback.place.stream != nullptr) {
                const InsideHostFunction inside(callback.place.stream, callback.place.sequence,
                                                callback.blocks);
                return CallCatching(callback.function, callback.userData);
            }
            return CallCatching(callback.function, callback.userData);
        }
        if (limit.Expired()) {
            return Error(ACL_ERROR_RT_REPORT_TIMEOUT, "no callback within the timeout of {} ms",
                         limit.milliseconds);
        }
        const AsleepScope asleep;
        if (limit.until == WaitClock::time_point::max()) {
            posted_.wait(lock);
        } else {
            (void)posted_.wait_until(lock, limit.until);
        }
    }
}

}  // namespace advstep
