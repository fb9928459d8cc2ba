// SPDX-License-Identifier: Apache-2.0
// A FIFO of task records of different sizes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/runtime/task/task.h"

namespace advstep {

/// A FIFO of records of different sizes in linked segments. Records do not move, so the front may
/// be run in place while others are pushed. The queue is not thread-safe: its stream's lock guards
/// it.
class TaskQueue {
 public:
    bool Empty() const { return head_ == nullptr || (head_ == tail_ && read_ == write_); }

    /// Returns room for a record at the end, where the caller constructs it. `bytes` is a multiple
    /// of kTaskAlignment. Throws std::bad_alloc if there is no memory, and leaves the queue as it
    /// was.
    void* Push(size_t bytes);

    /// Makes sure that the next Push of so many bytes cannot throw.
    void Reserve(size_t bytes);

    /// Returns the oldest record. The queue is not empty.
    Task* Front() const { return reinterpret_cast<Task*>(head_->bytes() + read_); }

    /// Returns the record after the oldest one; null: there is none. The queue is not empty.
    Task* Second() const;

    void PopFront();

    /// Calls `visit(Task&, sequence)` for the records after `after` and up to `upTo`, where `first`
    /// is the sequence of the oldest record. Returns how many records it has passed. It begins
    /// where the last call ended, unless that is beyond the range, so calls for one range after
    /// another pass each record once.
    template <typename Visit>
    uint64_t ForEachBetween(uint64_t first, uint64_t after, uint64_t upTo, Visit&& visit) {
        uint64_t passed = 0;
        const bool popped = walked_.sequence < first;
        const bool beyond = walked_.sequence > after + 1;
        Place next = popped || beyond ? Place{head_, read_, first} : walked_;
        for (; next.sequence <= upTo && IsRecord(&next); ++next.sequence) {
            walked_ = next;
            ++passed;
            Task& task = *reinterpret_cast<Task*>(next.segment->bytes() + next.at);
            next.at += task.bytes;
            if (next.sequence > after) {
                visit(task, next.sequence);
            }
        }
        return passed;
    }

 private:
    static constexpr size_t kSegmentBytes = 16384;

    struct alignas(kTaskAlignment) Segment {
        std::unique_ptr<Segment, void (*)(Segment*)> next{nullptr, nullptr};
        size_t capacity = 0;
        size_t end = 0;  // bytes in use, once a later segment exists

        unsigned char* bytes() { return reinterpret_cast<unsigned char*>(this + 1); }
    };
    using SegmentPtr = std::unique_ptr<Segment, void (*)(Segment*)>;

    struct Place {
        Segment* segment = nullptr;
        size_t at = 0;
        uint64_t sequence = 0;
    };
    // Moves the place from the end of a segment to the next one. False: it is the end of the queue.
    bool IsRecord(Place* place) const {
        while (place->segment != tail_ && place->at == place->segment->end) {
            place->segment = place->segment->next.get();
            place->at = 0;
        }
        return place->segment != nullptr && (place->segment != tail_ || place->at < write_);
    }

    static SegmentPtr MakeSegment(size_t capacity);
    bool SpareHolds(size_t bytes) const { return spare_ != nullptr && spare_->capacity >= bytes; }
    SegmentPtr TakeSegment(size_t bytes);
    static void FreeSegment(Segment* segment);

    SegmentPtr first_{nullptr, nullptr};  // owns the chain
    SegmentPtr spare_{nullptr, nullptr};  // an empty segment for the next need
    Segment* head_ = nullptr;
    Segment* tail_ = nullptr;
    size_t read_ = 0;   // in head_
    size_t write_ = 0;  // in tail_
    Place walked_;      // the last record that ForEachBetween has passed
};

}  // namespace advstep
