// SPDX-License-Identifier: Apache-2.0
// Memory blocks that begin and end with unmapped pages.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "src/base/settings.h"
#include "src/base/status.h"

namespace advstep {

struct ForkRecord;
struct PageRange;

/// A guarded block: a range of addresses that begins and ends with unmapped pages. Records are
/// reused and never freed, and all of them stay in one list, so that the signal handler can look at
/// them at any time without a lock. The members that the handler reads are atomic; `range` is
/// stored last and cleared first.
struct GuardRecord {
    std::atomic<uintptr_t> range{0};  // the addresses, unmapped pages included; 0: unused
    std::atomic<size_t> rangeBytes{0};
    std::atomic<uintptr_t> begin{0};  // the address that the caller has
    std::atomic<size_t> bytes{0};
    std::atomic<int32_t> device{kPinned};
    std::atomic<bool> freed{false};

    // GuardedMemory uses these under its lock.
    uintptr_t pages = 0;  // the memory between the unmapped pages
    size_t pageBytes = 0;
    PageRange* filePages = nullptr;  // of a device: the pages, which other processes can map
    ForkRecord* forkRange = nullptr;
    GuardRecord* nextInList = nullptr;  // of the free records or of the quarantine

    GuardRecord* nextEver = nullptr;  // set before the record can be found

    static constexpr int32_t kPinned = -1;  // no device: pinned host memory
};

/// Memory with unmapped pages at both sides, for ADVANCE_STEP_GUARD. A block of mode `after` ends
/// where the unmapped page begins, except for the bytes that its alignment takes. A block of mode
/// `before` begins where the unmapped page ends. The rest of the block's pages is filled with a
/// pattern, which is compared when the block is freed, and at the end of the process. A freed block
/// loses its memory and keeps its addresses in the quarantine, until newer blocks exceed the limits
/// of the quarantine.
///
/// mutex_ guards everything except the mode and the atomic members of the records. Only the locks
/// of the page pool and of the fork records are taken after it.
class GuardedMemory {
 public:
    /// Sets the mode of later allocations. The first mode other than kOff makes the handlers of
    /// SIGSEGV and SIGBUS (base/crash_signal.h) describe an access to a guarded block on standard
    /// error.
    void SetMode(GuardMode mode);
    bool On() const { return mode_.load(std::memory_order_relaxed) != GuardMode::kOff; }

    /// Allocates a block of the device, or of the host if `device` is GuardRecord::kPinned. The
    /// contents are undefined. 207001: the host cannot give it.
    Status Allocate(size_t bytes, size_t alignment, int32_t device, GuardRecord** record);

    /// Ends the process with a message if something has been written beside the block.
    void CheckEdges(const GuardRecord& record) const;

    /// Reports each block that is not freed and beside which something has been written, and lets
    /// the process end with a failure.
    void CheckAtExit();

    /// Frees the block, after CheckEdges.
    void Free(GuardRecord* record) noexcept;

    /// Returns the record whose range has the address, or null. Async-signal-safe.
    const GuardRecord* Find(uintptr_t address) const;

    static constexpr size_t kMostQuarantinedBlocks = 4096;
    static constexpr size_t kMostQuarantinedBytes = size_t{64} << 30;  // of addresses

 private:
    static uintptr_t FindWrittenEdge(const GuardRecord& record);
    GuardRecord* TakeRecord();
    Status Place(GuardRecord* record, size_t bytes, size_t alignment);
    static Status MakeMemory(GuardRecord* record, uint8_t* pages, size_t bytes);
    static void DropMemory(GuardRecord* record) noexcept;
    void ShrinkQuarantine(size_t mostBlocks, size_t mostBytes);

    std::atomic<GuardMode> mode_{GuardMode::kOff};
    std::atomic<GuardRecord*> all_{nullptr};
    std::mutex mutex_;
    GuardRecord* unused_ = nullptr;
    GuardRecord* oldest_ = nullptr;  // the list of the quarantine, which ends at newest_
    GuardRecord* newest_ = nullptr;
    size_t quarantinedBlocks_ = 0;
    size_t quarantinedBytes_ = 0;
};

/// Never destroyed: memory may be touched after main().
GuardedMemory& TheGuardedMemory();

}  // namespace advstep
