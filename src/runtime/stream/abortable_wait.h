// SPDX-License-Identifier: Apache-2.0
// Waits for a stream, which end when the work of the stream is aborted.

#pragma once

#include <atomic>
#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/stream/skipped_tasks.h"
#include "src/runtime/stream/stream_failures.h"

namespace advstep {

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
