// SPDX-License-Identifier: Apache-2.0
// Implements the segments of the queue: allocation, reuse and release.

#include "src/runtime/task/task_queue.h"

#include <algorithm>
#include <new>

namespace advstep {

TaskQueue::SegmentPtr TaskQueue::MakeSegment(size_t capacity) {
    void* const memory =
        ::operator new(sizeof(Segment) + capacity, std::align_val_t(alignof(Segment)));
    auto* const segment = new (memory) Segment;
    segment->capacity = capacity;
    return SegmentPtr(segment, &FreeSegment);
}

void TaskQueue::FreeSegment(Segment* segment) {
    // A long chain must not be freed by recursion.
    while (segment != nullptr) {
        Segment* const next = segment->next.release();
        segment->~Segment();
        ::operator delete(segment, std::align_val_t(alignof(Segment)));
        segment = next;
    }
}

TaskQueue::SegmentPtr TaskQueue::TakeSegment(size_t bytes) {
    return SpareHolds(bytes) ? std::move(spare_) : MakeSegment(std::max(bytes, kSegmentBytes));
    // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the chain will own it
}

void TaskQueue::Reserve(size_t bytes) {
    const size_t left =
        Empty() ? (first_ != nullptr ? first_->capacity : 0) : tail_->capacity - write_;
    if (left < bytes && !SpareHolds(bytes)) {
        spare_ = MakeSegment(std::max(bytes, kSegmentBytes));
    }
}

Task* TaskQueue::Second() const {
    const size_t at = read_ + Front()->bytes;
    if (at < (head_ == tail_ ? write_ : head_->end)) {
        return reinterpret_cast<Task*>(head_->bytes() + at);
    }
    return head_ == tail_ ? nullptr : reinterpret_cast<Task*>(head_->next->bytes());
}

void* TaskQueue::Push(size_t bytes) {
    if (Empty()) {
        if (first_ == nullptr || first_->capacity < bytes) {
            first_ = TakeSegment(bytes);
            head_ = tail_ = first_.get();
        }
        read_ = write_ = 0;  // starts over, so that a short queue stays in the same few cache lines
    }
    if (tail_->capacity - write_ < bytes) {
        SegmentPtr next = TakeSegment(bytes);
        tail_->end = write_;
        tail_->next = std::move(next);
        tail_ = tail_->next.get();
        write_ = 0;
    }
    void* const record = tail_->bytes() + write_;
    write_ += bytes;
    return record;
}

void TaskQueue::PopFront() {
    read_ += Front()->bytes;
    if (head_ != tail_ && read_ == head_->end) {
        SegmentPtr rest = std::move(head_->next);
        spare_ = std::move(first_);
        first_ = std::move(rest);
        head_ = first_.get();
        read_ = 0;
    }
}

}  // namespace advstep
