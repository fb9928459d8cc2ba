// SPDX-License-Identifier: Apache-2.0
// A FIFO of task records of different sizes.

#pragma once

#include <cstddef>
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

    /// Calls `visit(Task&)` for every record, the oldest first.
    template <typename Visit>
    void ForEach(Visit&& visit) {
        size_t at = read_;
        for (Segment* segment = head_; segment != nullptr; segment = segment->next.get(), at = 0) {
            const size_t end = segment == tail_ ? write_ : segment->end;
            while (at < end) {
                Task& task = *reinterpret_cast<Task*>(segment->bytes() + at);
                at += task.bytes;
                visit(task);
            }
            if (segment == tail_) {
                return;
            }
        }
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
};

}  // namespace advstep
