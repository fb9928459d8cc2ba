// SPDX-License-Identifier: Apache-2.0
// Holds of memory that a thread touches itself, outside of the work of streams.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace advstep {

/// A range of addresses. One whose end would lie beyond the last address ends there.
struct HeldRange {
    uintptr_t begin = 0;
    uintptr_t end = 0;

    HeldRange() = default;
    HeldRange(const void* address, size_t bytes) : begin(reinterpret_cast<uintptr_t>(address)) {
        end = bytes <= UINTPTR_MAX - begin ? begin + bytes : UINTPTR_MAX;
    }
    static HeldRange Everything() {
        HeldRange all;
        all.end = UINTPTR_MAX;
        return all;
    }
    bool Meets(const HeldRange& other) const { return begin < other.end && other.begin < end; }
};

class MemoryHolds;

/// Holds two ranges of memory during the life of the object: memory that is freed, unmapped or
/// taken by a reset meanwhile is neither given back nor used again. A thread enters the hold first
/// and looks for the memory afterwards (DeviceMemory::Find). So whoever takes the memory out of the
/// map later finds the hold, because the map's lock lies between. A thread in a hold waits for
/// nothing but locks, and calls no function of the program: every hold ends by itself. The hold of
/// a graph's block (advstepAllocateHeld) lasts longer; nobody waits for one of device blocks.
class MemoryHold {
 public:
    MemoryHold(MemoryHolds* holds, const HeldRange& first, const HeldRange& second = {});
    ~MemoryHold();
    MemoryHold(const MemoryHold&) = delete;
    MemoryHold& operator=(const MemoryHold&) = delete;

 private:
    friend class MemoryHolds;

    MemoryHolds& holds_;
    const HeldRange first_;
    const HeldRange second_;
    MemoryHold* before_ = nullptr;  // the list, which MemoryHolds::mutex_ guards
    MemoryHold* next_ = nullptr;
};

/// The holds of all threads. mutex_ guards the list. No lock is taken under it; those of memory are
/// taken before it.
class MemoryHolds {
 public:
    /// Returns whether a thread holds some of the range. The caller has removed the range from the
    /// memory that can be found.
    bool Meets(const HeldRange& range) const {
        return count_.load(std::memory_order_acquire) != 0 && MeetsSlowly(range);
    }
    /// Waits until no thread holds any of the range. The calling thread has no lock and no hold.
    void WaitFor(const HeldRange& range) const;

 private:
    friend class MemoryHold;

    bool MeetsSlowly(const HeldRange& range) const;
    bool MeetsLocked(const HeldRange& range) const;
    void Enter(MemoryHold* hold);
    void Leave(MemoryHold* hold);

    mutable std::mutex mutex_;
    mutable std::condition_variable ended_;
    MemoryHold* newest_ = nullptr;
    std::atomic<size_t> count_{0};  // changes under mutex_
    mutable int waiters_ = 0;
};

inline MemoryHold::MemoryHold(MemoryHolds* holds, const HeldRange& first, const HeldRange& second)
    : holds_(*holds), first_(first), second_(second) {
    holds_.Enter(this);
}

inline MemoryHold::~MemoryHold() { holds_.Leave(this); }

}  // namespace advstep
