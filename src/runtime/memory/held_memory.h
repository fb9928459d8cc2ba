// SPDX-License-Identifier: Apache-2.0
// Freed memory that waits for queued work, and which of that work may use it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/runtime/task/ticket.h"
#include "src/runtime/task/touched_memory.h"

namespace advstep {

/// Freed ranges with the places that they wait for, which are the ends of all work that was queued
/// before. Narrow asks that work what memory it may touch, and moves each place back to the last
/// task that may touch the range. The answers hold for ever: work that was queued before a free
/// only becomes less.
///
/// One thread uses an object. It holds no lock when it calls Narrow, which takes those of streams.
class HeldMemory {
 public:
    struct Freed {
        uint64_t number = 0;  // by which the owner finds it again
        uintptr_t begin = 0;
        uintptr_t end = 0;
        // The allocation of which it was a part: work that has an address there may touch all of
        // it.
        uintptr_t wholeBegin = 0;
        uintptr_t wholeEnd = 0;
        std::vector<Ticket> pending;
    };
    using ListMemory = void (*)(const Ticket& place, TouchedMemory* touched);

    /// No two ranges share a byte. Two allocations are the same, or they share no byte.
    void Add(Freed freed) { freed_.push_back(std::move(freed)); }
    bool Empty() const { return freed_.empty(); }

    /// `list` is ListPendingMemory, except in tests.
    void Narrow(ListMemory list);

    /// Finds a range, after Narrow. Null: it was not added.
    Freed* Find(uint64_t number);

 private:
    std::vector<Freed> freed_;
};

/// Freed memory of a device that counts as used, because queued work may use it.
class HeldUp {
 public:
    void Add(uint64_t bytes, const std::vector<Ticket>& pending);
    uint64_t bytes() const { return bytes_; }
    /// Returns "8192 bytes have been freed and wait for work of stream 0x..", with the stream for
    /// which most of it waits. It takes that stream's lock.
    std::string Text() const;

 private:
    struct ForStream {
        Ticket place;
        uint64_t bytes;
    };
    uint64_t bytes_ = 0;
    std::vector<ForStream> streams_;
};

}  // namespace advstep
