// SPDX-License-Identifier: Apache-2.0
// Threads that wait for streams, and run the streams meanwhile.
#include <pthread.h>

#include <algorithm>

#include "acl/acl_base.h"
#include "src/base/log.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/stream/run_frame.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/stream/wait_in_list.h"
#include "src/runtime/task/ticket.h"

namespace advstep {
namespace {

Status WaitsForItself(const char* what, Handle stream) {
    return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                 "waits for stream {}, {}; expected a call from another thread", ToPointer(stream),
                 what);
}

bool Stays(const Task& task) {
    return task.kind == TaskKind::kTicketWait && static_cast<const TicketWaitTask&>(task).stays;
}

bool EndsTaskBefore(const Task* task) {
    return task != nullptr && task->kind == TaskKind::kPollWait &&
           static_cast<const PollWaitTask*>(task)->endsTaskBefore;
}

}  // namespace

// A stream whose tasks are part of another stream's task keeps that stream as its parent until they
// have ended. So the parents of the streams that the thread runs do not change meanwhile.
bool PartOfTask::NeedsThisThread() const {
    for (const RunFrame* frame = RunFrame::innermost; frame != nullptr; frame = frame->outer()) {
        for (const PartOfTask* stream = frame->stream(); stream != nullptr;
             stream = stream->parent_.load(std::memory_order_relaxed)) {
            if (stream == this) {
                return true;
            }
        }
    }
    return false;
}

// Only the innermost task counts, because the outer ones merely wait for it or for others.
bool PartOfTask::InsideTaskBefore(const std::vector<Ticket>& places) {
    const RunFrame* const frame = RunFrame::innermost;
    for (const PartOfTask* stream = frame != nullptr ? frame->stream() : nullptr; stream != nullptr;
         stream = stream->parent_.load(std::memory_order_relaxed)) {
        for (const Ticket& place : places) {
            if (place.stream == stream && !Reached(place)) {
                return true;
            }
        }
    }
    return false;
}

bool InsideTaskBefore(const std::vector<Ticket>& places) {
    return PartOfTask::InsideTaskBefore(places);
}

int PartOfTask::Depth() const {
    int depth = 0;
    for (const PartOfTask* stream = parent_.load(std::memory_order_relaxed); stream != nullptr;
         stream = stream->parent_.load(std::memory_order_relaxed)) {
        ++depth;
    }
    return depth;
}

void Stream::Sleep(std::unique_lock<std::mutex>& lock, uint64_t sequence, const WaitLimit& limit) {
    const NoCancellation noCancellation;
    nextSleeper_ = std::min(nextSleeper_, sequence);
    if (limit.until == WaitClock::time_point::max()) {
        changed_.wait(lock);
    } else {
        (void)changed_.wait_until(lock, limit.until);
    }
}

Status Stream::StopFront(Handle handle, Handle caller) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle, caller));
        ADVSTEP_RETURN_IF_ERROR(CheckNotCaptured());
        if (queue_.Empty()) {
            return {};
        }
        // A running task cannot be interrupted, and one that has not begun stays.
        Task* const wait = running_ ? queue_.Second() : queue_.Front();
        if (running_ ? !EndsTaskBefore(wait) : !FrontWaits() || Stays(*wait)) {
            return {};
        }
        wait->skip = TaskSkip::kAborted;
    }
    workers_->Wake();
    workers_->NudgeSleepers();  // some may sleep on what the wait was waiting for
    return {};
}

void Stream::WaitForRunner(std::unique_lock<std::mutex>& lock, uint64_t sequence, uint64_t nudges,
                           const WaitLimit& limit) {
    ++sleepers_;
    while (claimant_ != nullptr && !Reached(sequence) && nudges_.load() == nudges &&
           !limit.Expired()) {
        Sleep(lock, sequence, limit);
    }
    --sleepers_;
}

void Stream::WaitForProgress(std::unique_lock<std::mutex>& lock, uint64_t front, uint64_t nudges,
                             const WaitLimit& limit) {
    ++sleepers_;
    while (!Reached(front) && nudges_.load() == nudges && !limit.Expired()) {
        Sleep(lock, front, limit);
    }
    --sleepers_;
}

bool Stream::FrontWaits() const {
    const Task& front = *queue_.Front();
    return front.waits() && front.skip == TaskSkip::kNot &&
           !frontWait_.Over(completed_.load(std::memory_order_relaxed) + 1);
}

bool Stream::LeftToOthers(const WaitLimit& limit) const {
    const Task* const front = queue_.Front();
    const bool runs = front->skip == TaskSkip::kNot || front->always();
    return runs && (front->mayTakeLong() || limit.Expired()) && !workers_->MustRun(limit, *front);
}

Status Stream::AbortedError(int32_t code) {
    return Error(code, "the {} while this waited for it",
                 code == ACL_ERROR_RT_STREAM_ABORT ? "stream was aborted or destroyed"
                                                   : "work of the stream's device was aborted");
}

Status Stream::Synchronize(Handle handle, Handle caller, const WaitLimit& limit) {
    std::unique_lock<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
    ADVSTEP_RETURN_IF_ERROR(CheckNotCaptured());
    const uint64_t last = issued_.load(std::memory_order_relaxed);
    if (Reached(last)) {
        return failures_.Take(0, last);
    }
    unwaited_.Waited();
    // The usual case, a few brief tasks that no thread has begun, is handled here in one go.
    int lockKept = 4;  // tasks for which the lock is kept
    bool wakes = false;
    const bool runs = !limit.timed && !NeedsThisThread();
    if (claimant_ == nullptr && runs) {
        wakes = RunBriefTasks(last, &lockKept);
        if (!wakes && Reached(last)) {
            return failures_.Take(0, last);
        }
    }
    // It leaves the list under the lock, and ends without it, because it may write to the log.
    WaitInList wait(this, 0);
    wait.Get()->sequence = last;
    wait.EnterLocked();  // before the lock is released, so that no abort is missed
    if (wakes) {
        lock.unlock();
        workers_->Wake();
        lock.lock();
    }
    if (claimant_ == nullptr && !Reached(last) && runs) {
        (void)ClaimAndRun(lock, last, wait.Get(), limit, lockKept);
    }
    if (!Reached(last) && wait.AbortCode() == 0) {
        lock.unlock();
        ADVSTEP_RETURN_IF_ERROR(WaitListed({this, last}, limit, &wait));
        lock.lock();
    }
    wait.LeaveLocked();
    const int32_t abort = wait.AbortCode();  // while the lock was released
    Status result = abort != 0 ? AbortedError(abort) : wait.TakeFailureLocked();
    lock.unlock();
    return result;
}

Status WaitFor(const Ticket& ticket, const WaitLimit& limit) {
    Stream::WaitInList wait(ticket.stream);
    wait.Get()->sequence = ticket.sequence;
    if (!limit.evenIfAborted) {
        const std::lock_guard<std::mutex> lock(ticket.stream->mutex_);
        wait.EnterLocked();
    }
    return Stream::WaitListed(ticket, limit, &wait);
}

Status Stream::WaitInList::WaitAndTakeFailure(uint64_t sequence, const WaitLimit& limit) {
    {
        const std::lock_guard<std::mutex> lock(stream_.mutex_);
        wait_.sequence = sequence;
        EnterLocked();
    }
    ADVSTEP_RETURN_IF_ERROR(WaitListed({&stream_, sequence}, limit, this));
    const std::lock_guard<std::mutex> lock(stream_.mutex_);
    return TakeFailureLocked();
}

Status Stream::WaitInList::WaitForTasks(uint64_t sequence, const WaitLimit& limit) {
    ADVSTEP_RETURN_IF_ERROR(WaitAndTakeFailure(sequence, limit));
    return wait_.skipped.AsStatus();  // the wait has left the list, so nobody else touches it
}

void Stream::WaitInList::LogFailure() const noexcept {
    Log(LogLevel::kError, "a stream was destroyed with a failure that nobody asked for: {} ({})",
        wait_.failure.message(), wait_.failure.code());
}

Status Stream::WaitInList::WaitForTask() {
    ADVSTEP_RETURN_IF_ERROR(WaitListed({&stream_, wait_.sequence}, ToTheEnd(), this));
    const std::lock_guard<std::mutex> lock(stream_.mutex_);
    LeaveLocked();
    return wait_.skipped.AsStatus();
}

Status Stream::WaitListed(const Ticket& ticket, const WaitLimit& limit, WaitInList* wait) {
    Ticket next = ticket;
    // Counted before the first stream on the way is looked at, so that no nudge is missed.
    uint64_t nudges = Stream::nudges_.load();
    const auto startAgain = [&] {
        next = ticket;
        nudges = Stream::nudges_.load();
    };
    while (!ticket.stream->Reached(ticket.sequence) && wait->AbortCode() == 0) {
        if (limit.Expired()) {
            return ExpiredError(limit);
        }
        Stream& stream = *next.stream;
        std::unique_lock<std::mutex> lock(stream.mutex_);
        if (stream.Reached(next.sequence)) {
            startAgain();  // the obstacle is gone: go on from the ticket
            continue;
        }
        stream.unwaited_.Waited();
        if (stream.claimant_ == Stream::Self() || stream.NeedsThisThread()) {
            return WaitsForItself("which is running the host function that calls it",
                                  stream.identity_.handle);
        }
        if (stream.claimant_ != nullptr) {
            stream.WaitForRunner(lock, next.sequence, nudges, limit);
            startAgain();
            continue;
        }
        // The stream is run no further than the ticket: later work may need something that this
        // thread holds.
        const FrontObstacle obstacle = stream.ClaimAndRun(lock, next.sequence, wait->Get(), limit);
        switch (obstacle.kind) {
            case FrontObstacle::Kind::kNone:
                startAgain();
                break;
            case FrontObstacle::Kind::kTicket:
                next = obstacle.ticket;
                break;
            case FrontObstacle::Kind::kPoll:
                if (obstacle.ticket.stream != nullptr) {
                    next = obstacle.ticket;
                    break;
                }
                if (obstacle.thread != 0 &&
                    obstacle.thread == static_cast<uint64_t>(pthread_self())) {
                    return WaitsForItself("which waits for this thread's aclrtProcessReport",
                                          stream.identity_.handle);
                }
                [[fallthrough]];
            case FrontObstacle::Kind::kLeft:
                // The workers continue: they were woken if they slept. The lock may have been
                // released meanwhile, so the front may have ended.
                stream.WaitForProgress(lock, obstacle.front, nudges, limit);
                startAgain();
                break;
        }
    }
    const int32_t abort = wait->AbortCode();
    return abort != 0 ? AbortedError(abort) : Status();
}

}  // namespace advstep
