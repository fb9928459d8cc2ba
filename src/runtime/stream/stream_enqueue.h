// SPDX-License-Identifier: Apache-2.0
// The definitions of Stream's enqueue calls, which stream.h includes.

#pragma once

#include <cstdint>
#include <mutex>
#include <type_traits>

#include "src/runtime/stream/stream.h"

namespace advstep {

inline void Stream::NoteQueued(uint64_t first) {
    if (!inBusySet_) {
        inBusySet_ = true;
        busySet_->Add(tableIndex);
    }
    if (first == completed_.load(std::memory_order_relaxed) + 1) {
        unwaited_.BurstBegins();
        if (Trace::On()) {
            trace_.BecameOldest();
        }
    }
}

template <typename Fill>
Status Stream::Enqueue(Handle handle, Handle caller, const Work& work, Fill&& fill,
                       Ticket* ticket) {
    bool wake = false;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
        if (recorder_ != nullptr && RecordingLocked()) {
            using Callable = std::remove_reference_t<Fill>;
            const RecordFill make{[](void* callable, void* memory) -> Task* {
                                      return (*static_cast<Callable*>(callable))(memory);
                                  },
                                  const_cast<void*>(static_cast<const void*>(&fill))};
            bool over = false;  // the capture has ended meanwhile, so the work is queued
            Status recorded = recorder_->Record(recorderBranch_, work, make, &over);
            if (!over) {
                return recorded;
            }
        }
        if (!failures_.refusal().ok()) {
            return RefusedError();
        }
        const uint64_t sequence = issued_.load(std::memory_order_relaxed) + 1;
        ADVSTEP_RETURN_IF_ERROR(CheckRoom(sequence));
        const size_t bytes = AlignedTaskBytes(work.bytes);
        Task* const task = fill(queue_.Push(bytes));
        task->bytes = static_cast<uint32_t>(bytes);
        issued_.store(sequence, std::memory_order_relaxed);
        if (work.foreign) {
            foreign_.store(sequence, std::memory_order_relaxed);
        }
        NoteQueued(sequence);
        if (ticket != nullptr) {
            *ticket = {this, sequence};
        }
        wake = NeedsWaking(task->heavy());
    }
    if (wake) {
        workers_->Wake();
    }
    return {};
}

template <typename Prepare, typename Fill>
Status Stream::EnqueueBatch(Handle handle, Handle caller, const Batch& batch, Prepare&& prepare,
                            Fill&& fill, Ticket* last) {
    bool wake = false;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle, caller));
        ADVSTEP_RETURN_IF_ERROR(CheckNotRecorded());
        if (!failures_.refusal().ok() && !batch.evenIfStopped) {
            return RefusedError();
        }
        const uint64_t issued = issued_.load(std::memory_order_relaxed);
        ADVSTEP_RETURN_IF_ERROR(CheckRoom(issued + 1));
        queue_.Reserve(batch.bytes);
        ADVSTEP_RETURN_IF_ERROR(prepare(issued + 1));
        if (batch.count > 0) {
            fill(queue_.Push(batch.bytes));
            issued_.store(issued + batch.count, std::memory_order_relaxed);
            if (batch.foreign) {
                foreign_.store(issued + batch.count, std::memory_order_relaxed);
            }
            NoteQueued(issued + 1);
        }
        *last = {this, issued + batch.count};
        wake = batch.wakes && NeedsWaking(batch.heavy);
    }
    if (wake) {
        workers_->Wake();
    }
    return {};
}

}  // namespace advstep
