// SPDX-License-Identifier: Apache-2.0
// A thread's wait in the list of its stream.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "src/base/status.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/task/ticket.h"

namespace advstep {

/// A wait of the calling thread, in the list of its stream from its entry until it leaves or ends.
class Stream::WaitInList {
 public:
    explicit WaitInList(Stream* stream) : stream_(*stream) {}
    /// A wait that reports the first failure of a task after `failuresAfter` and up to its place.
    WaitInList(Stream* stream, uint64_t failuresAfter) : stream_(*stream) {
        wait_.takesFailures = true;
        wait_.failuresAfter = failuresAfter;
    }
    ~WaitInList() {
        if (wait_.listed) {
            const std::lock_guard<std::mutex> lock(stream_.mutex_);
            stream_.waits_.Remove(&wait_);
        }
        if (!wait_.failure.ok()) {
            LogFailure();
        }
    }
    WaitInList(const WaitInList&) = delete;
    WaitInList& operator=(const WaitInList&) = delete;

    void EnterLocked() {
        if (!wait_.listed) {
            stream_.waits_.Add(&wait_);
        }
    }
    void LeaveLocked() {
        if (wait_.listed) {
            stream_.waits_.Remove(&wait_);
        }
    }
    AbortableWait* Get() { return &wait_; }
    int32_t AbortCode() const { return wait_.abortCode.load(std::memory_order_acquire); }

    /// Enters a wait for everything that is queued now. False: the stream has ended.
    bool EnterForAll(Handle handle) {
        const std::lock_guard<std::mutex> lock(stream_.mutex_);
        if (stream_.identity_.handle != handle) {
            return false;
        }
        EnterForTasksLocked(0);
        return true;
    }
    /// Waits for the place that was entered. Codes as WaitFor.
    Status Wait(const WaitLimit& limit) {
        return WaitListed({&stream_, wait_.sequence}, limit, this);
    }
    /// As TakeFailureLocked. A wait that reports no failures returns success.
    Status TakeFailure() {
        const std::lock_guard<std::mutex> lock(stream_.mutex_);
        return wait_.takesFailures ? TakeFailureLocked() : Status();
    }

    /// Leaves the list, and returns the failure that the wait reports, if any.
    Status TakeFailureLocked() {
        LeaveLocked();
        return wait_.failure.ok() ? stream_.failures_.Take(wait_.failuresAfter, wait_.sequence)
                                  : std::exchange(wait_.failure, Status());
    }
    /// Waits for the place. Returns the failure that the wait reports, if any. Codes as WaitFor.
    Status WaitAndTakeFailure(uint64_t sequence, const WaitLimit& limit);

    /// The same for the last of the tasks of EnterForTasksLocked. If that task was skipped, and
    /// none has failed, it returns the code for which the task was skipped.
    Status WaitForTasks(uint64_t sequence, const WaitLimit& limit);

    /// Enters the wait for the last of `count` tasks that are being queued, so that it misses
    /// nothing that becomes of them. It is for the `fill` of Enqueue and EnqueueBatch.
    void EnterForTasksLocked(uint64_t count) {
        wait_.sequence = stream_.issued_.load(std::memory_order_relaxed) + count;
        EnterLocked();
    }
    /// The same for one task. An abort does not end the wait.
    void EnterForTaskLocked() {
        wait_.evenIfAborted = true;
        EnterForTasksLocked(1);
    }
    /// Waits for that task. Returns the code for which it was skipped, or success if it was run.
    /// 207000: as WaitFor.
    Status WaitForTask();

 private:
    /// Logs a failure that the wait has not reported, because it ended with another code.
    void LogFailure() const noexcept;

    Stream& stream_;
    AbortableWait wait_;
};

}  // namespace advstep
