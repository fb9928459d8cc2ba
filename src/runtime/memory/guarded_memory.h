#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "src/base/settings.h"

namespace advstep {

/// A guarded block: addresses that begin and end with unmapped pages. Records are reused, never
/// freed, and all in one list, so that the signal handler can look at them at any time without a
/// lock. What the handler reads is atomic; `range` is stored last and cleared first.
struct GuardRecord {
    std::atomic<uintptr_t> range{0};  // the addresses, unmapped pages included; 0: unused
    std::atomic<size_t> rangeBytes{0};
    std::atomic<uintptr_t> begin{0};  // what the caller has
    std::atomic<size_t> bytes{0};
    std::atomic<int32_t> device{kPinned};
    std::atomic<bool> freed{false};

    // Of GuardedMemory, under its lock.
    uintptr_t pages = 0;  // the memory between the unmapped pages
    size_t pageBytes = 0;
    GuardRecord* nextInList = nullptr;  // of the free records or of the quarantine

    GuardRecord* nextEver = nullptr;  // set before the record can be found

    static constexpr int32_t kPinned = -1;  // no device: pinned host memory
};

/// Memory with unmapped pages at both sides, for ADVANCE_STEP_GUARD. With `after` a block ends
/// where the unmapped page begins, but for the bytes that its alignment takes; with `before` it
/// begins where one ends. What is left of its pages is filled with a pattern, which is compared
/// when the block is freed. A freed block loses its memory and keeps its addresses until it is one
/// of too many (the quarantine).
///
/// mutex_ guards everything but the mode and what is atomic in the records; none is taken after it.
class GuardedMemory {
 public:
    /// Never destroyed: memory may be touched after main().
    static GuardedMemory& Instance();

    /// Of later allocations. The first that is not off installs the signal handler.
    void SetMode(GuardMode mode);
    bool On() const { return mode_.load(std::memory_order_relaxed) != GuardMode::kOff; }

    /// A block of the device, or GuardRecord::kPinned; null: the host cannot. The contents are
    /// undefined.
    GuardRecord* Allocate(size_t bytes, size_t alignment, int32_t device) noexcept;

    /// Ends the process with a message if something has been written beside the block.
    void CheckEdges(const GuardRecord& record) const;

    /// Checks the edges, too.
    void Free(GuardRecord* record) noexcept;

    /// The record whose addresses an address is among, or null. Async-signal-safe.
    const GuardRecord* Find(uintptr_t address) const;

    static constexpr size_t kMostQuarantinedBlocks = 4096;
    static constexpr size_t kMostQuarantinedBytes = size_t{64} << 30;  // of addresses

 private:
    GuardRecord* TakeRecord();
    bool Place(GuardRecord* record, size_t bytes, size_t alignment);
    void ShrinkQuarantine(size_t mostBlocks, size_t mostBytes);

    std::atomic<GuardMode> mode_{GuardMode::kOff};
    std::atomic<GuardRecord*> all_{nullptr};
    std::mutex mutex_;
    GuardRecord* unused_ = nullptr;
    GuardRecord* oldest_ = nullptr;  // of the quarantine, which goes on to newest_
    GuardRecord* newest_ = nullptr;
    size_t quarantinedBlocks_ = 0;
    size_t quarantinedBytes_ = 0;
};

}  // namespace advstep
