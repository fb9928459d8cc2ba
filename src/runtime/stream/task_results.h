// SPDX-License-Identifier: Apache-2.0
// The results of a stream's tasks that somebody may still ask for: failures that have not been
// reported, tasks that were skipped, and the waits that are told of both.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/task.h"

namespace advstep {

/// The failures of a stream's tasks that have not been reported, in order, and whether the stream
/// refuses new work because of one. Plain data that the stream's lock guards.
class StreamFailures {
 public:
    /// Begins a life without failures. This call allocates the memory for the failures of the life.
    void Open();

    /// Keeps a failure. A stream keeps at most 16 unreported failures: the first 15 and the latest,
    /// which stands for those between, too.
    void Add(uint64_t sequence, Status status) noexcept;

    /// Returns the first failure of a task after `sequence` and up to `last`. The failures between
    /// are reported with it: all of them are removed.
    Status Take(uint64_t sequence, uint64_t last) {
        return failures_.empty() ? Status() : TakeFirst(sequence, last);
    }

    /// Returns whether all failures have been reported.
    bool empty() const { return failures_.empty(); }

    /// Refuses new work with the code and the message of the failure, until all failures are
    /// reported.
    void RefuseNewWork(const Status& failure) noexcept;
    /// Returns success while new work is accepted.
    const Status& refusal() const { return refusal_; }

    /// Writes the unreported failures to the log when the stream ends.
    void LogUnreported(Handle stream) const;
    /// Returns the first unreported failure. There is one.
    const Status& First() const { return failures_.front().status; }

 private:
    static constexpr size_t kMostFailures = 16;

    struct Failure {
        uint64_t first;  // the tasks that failed, of which the status is the last one's
        uint64_t last;
        Status status;
    };

    Status TakeFirst(uint64_t sequence, uint64_t last);

    std::vector<Failure> failures_;  // never reallocated in a life
    Status refusal_;
};

/// Why a task was not run.
struct SkipReason {
    TaskSkip why = TaskSkip::kNot;
    int32_t failure = 0;  // the code of the failure at which the stream stopped

    /// Returns the code for which the task was skipped, or success for kNot.
    Status AsStatus() const;

    bool operator==(const SkipReason& other) const {
        return why == other.why && failure == other.failure;
    }
};

/// The latest tasks in a row that ended without having been run, each with its own reason: a
/// model's stream may skip the tasks of several replays, for different reasons, before the first of
/// them is asked about. Tasks that are still queued carry the reason themselves (Task::skip). Plain
/// data that the stream's lock guards. Nothing is allocated, because the end of a task cannot fail.
class SkippedTasks {
 public:
    /// Adds a task that ends now, and returns its reason. Sequences only grow.
    SkipReason Ended(uint64_t sequence, TaskSkip why) {
        const SkipReason reason{why, why == TaskSkip::kStopped ? failure_ : 0};
        if (upTo_ + 1 != sequence) {
            after_ = sequence - 1;
            count_ = 0;
        }
        upTo_ = sequence;
        if (count_ == 0 || (count_ < kMostSpans && !(spans_[count_ - 1].reason == reason))) {
            spans_[count_] = {sequence, reason};
            ++count_;
        }
        return reason;
    }

    /// Sets the code of the failure at which the stream stopped.
    void StoppedWith(int32_t code) { failure_ = code; }

    /// Returns the code for which a task that has ended was skipped, or success if it was run.
    Status CheckRan(uint64_t sequence) const;

 private:
    // Beyond as many changes of the reason in a row, later tasks are told the reason of the last.
    static constexpr size_t kMostSpans = 8;

    struct Span {
        uint64_t first = 0;  // the tasks from this one up to the next span
        SkipReason reason;
    };

    uint64_t after_ = 0;
    uint64_t upTo_ = 0;
    std::array<Span, kMostSpans> spans_;
    size_t count_ = 0;
    int32_t failure_ = 0;
};

/// A thread's wait for a place in a stream.
struct AbortableWait {
    uint64_t sequence = 0;
    std::atomic<int32_t> abortCode{0};  // the thread reads it without the stream's lock
    bool evenIfAborted = false;         // an abort does not end it
    SkipReason skipped;                 // of the task at `sequence`, once that has ended
    bool takesFailures = false;         // of tasks after `failuresAfter` and up to `sequence`
    uint64_t failuresAfter = 0;
    Status failure;  // taken for the wait when the stream ended
    AbortableWait* previous = nullptr;
    AbortableWait* next = nullptr;
    bool listed = false;  // only the waiting thread changes and reads it
};

/// The waits that are under way. The stream's lock guards the list. The waits stand on the stacks
/// of their threads, which remove them under that lock.
class AbortableWaits {
 public:
    void Add(AbortableWait* wait) {
        wait->listed = true;
        wait->next = first_;
        if (first_ != nullptr) {
            first_->previous = wait;
        }
        first_ = wait;
    }

    void Remove(AbortableWait* wait) {
        wait->listed = false;
        (wait->previous == nullptr ? first_ : wait->previous->next) = wait->next;
        if (wait->next != nullptr) {
            wait->next->previous = wait->previous;
        }
    }

    /// Ends the waits for places after `completed`, with the code of the first abort.
    void Abort(uint64_t completed, int32_t code) {
        for (AbortableWait* wait = first_; wait != nullptr; wait = wait->next) {
            int32_t none = 0;
            if (wait->sequence > completed && !wait->evenIfAborted) {
                wait->abortCode.compare_exchange_strong(none, code, std::memory_order_release,
                                                        std::memory_order_relaxed);
            }
        }
    }

    /// Tells the waits for a task that it has ended without having been run.
    void Skipped(uint64_t sequence, const SkipReason& reason) {
        for (AbortableWait* wait = first_; wait != nullptr; wait = wait->next) {
            if (wait->sequence == sequence) {
                wait->skipped = reason;
            }
        }
    }

    /// Gives the failures of a stream that ends to the waits that would report them.
    void HandOver(StreamFailures* failures) {
        for (AbortableWait* wait = first_; wait != nullptr; wait = wait->next) {
            if (wait->takesFailures && wait->failure.ok()) {
                wait->failure = failures->Take(wait->failuresAfter, wait->sequence);
            }
        }
    }

 private:
    AbortableWait* first_ = nullptr;
};

}  // namespace advstep
