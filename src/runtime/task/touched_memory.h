// SPDX-License-Identifier: Apache-2.0
// The answers of queued tasks to the question which memory they may touch.

#pragma once

#include <cstddef>
#include <cstdint>

namespace advstep {

/// Receives the memory that queued tasks of one stream may touch, task by task, oldest first.
/// ListPendingMemory (ticket.h) calls it under the stream's lock, so it takes no lock.
class TouchedMemory {
 public:
    virtual ~TouchedMemory() = default;

    /// Begins the task of that sequence, which the next calls are about.
    virtual void NextTask(uint64_t sequence) = 0;
    /// A range.
    virtual void Range(const void* begin, size_t bytes) = 0;
    /// Any part of the allocation in which the address lies, if it lies in one.
    virtual void AllocationAt(uintptr_t address) = 0;
    /// Any memory: nothing is known.
    virtual void Any() = 0;
};

}  // namespace advstep
