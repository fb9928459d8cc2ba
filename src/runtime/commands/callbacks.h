// SPDX-License-Identifier: Apache-2.0
// Callbacks that streams post to subscribed threads.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "acl/acl_rt.h"
#include "src/base/status.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/task/ticket.h"

namespace advstep {

/// Returns true while the calling thread runs a callback in aclrtProcessReport.
bool InsideCallback();

/// Callbacks that streams send to the threads that subscribed to them.
///
/// mutex_ guards all members. It is taken under the lock of a stream that posts or is subscribed
/// to, so no stream's lock is taken under mutex_. Callbacks run without the lock.
class Callbacks {
 public:
    /// Subscribes a thread to the callbacks of the stream. 107011: the stream is subscribed
    /// already. Codes also as Stream::Check.
    Status Subscribe(uint64_t thread, const StreamRef& stream);
    /// Ends a subscription. Callbacks of the stream that have not run are dropped, and nothing
    /// waits for them any more. `argument` is the name of the argument that has the thread. 107015:
    /// the stream is not subscribed. 107012: another thread is subscribed to it. Codes also as
    /// Stream::Check.
    Status Unsubscribe(uint64_t thread, const char* argument, const StreamRef& stream);

    /// Queues a callback. 107015: the stream is not subscribed. Codes also as Stream::Enqueue.
    Status Launch(aclrtCallback function, void* userData, bool block, const StreamRef& stream);

    /// Gives a copy of a recorded callback the stream of its replay. The callback goes to the
    /// thread that is subscribed to the captured stream when its turn comes, or else to this one.
    static void SetReplay(Task* record, Handle stream);
    /// Returns the thread that has to run a recorded callback before its stream continues: the one
    /// that is subscribed now. 0: there is none, or the stream does not wait.
    uint64_t ThreadToWaitFor(const Task& record);

    /// Waits for a callback for the calling thread and runs it. 107012: the thread is not
    /// subscribed. 507012: no callback came in time.
    Status Process(const WaitLimit& limit);

    /// Notes that a thread ends that has waited for callbacks.
    void ThreadEnds(uint64_t thread);

    /// Ends the subscription of a stream and drops its callbacks.
    void Forget(Handle stream);
    /// Does so only if `thread` is the subscribed thread.
    void ForgetIfOf(Handle stream, uint64_t thread);

 private:
    struct Callback {
        uint64_t id;
        Handle stream;
        aclrtCallback function;
        void* userData;
        Ticket place;  // of the task, if the sanitizer wants it
        bool blocks;   // its stream waits for it
    };
    struct CallbackTask;

    bool SubscribedLocked(uint64_t thread) const;
    void DropLocked(Handle stream);
    /// Hands the callback to the thread that is subscribed to its stream, or else to `replay`, and
    /// numbers it. Returns that thread, or 0 if no thread is subscribed.
    uint64_t Post(Callback callback, Handle replay, uint64_t* id);
    bool Pending(uint64_t id);

    std::mutex mutex_;
    std::condition_variable posted_;
    std::map<Handle, uint64_t> threads_;                  // by stream
    std::map<uint64_t, std::deque<Callback>> callbacks_;  // by thread
    std::set<uint64_t> ended_;            // threads, while the sanitizer checks synchronisation
    std::map<uint64_t, Handle> pending_;  // streams of the callbacks that have not ended
    uint64_t lastId_ = 0;
};

Callbacks& TheCallbacks();

}  // namespace advstep
