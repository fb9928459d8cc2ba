// SPDX-License-Identifier: Apache-2.0
// Places blocks beside unmapped pages, checks the bytes around them, and reports bad accesses.

#include "src/runtime/memory/guarded_memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/at_load.h"
#include "src/base/crash_signal.h"
#include "src/base/exit_status.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/fork_records.h"
#include "src/runtime/memory/page_pool.h"

namespace advstep {
namespace {

constexpr int kPattern = 0xA9;

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

size_t PageBytes() {
    static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    return bytes;
}

const AtLoad readPageBytes(&PageBytes);

uint8_t* At(uintptr_t address) { return reinterpret_cast<uint8_t*>(address); }

// A guarded block takes three mappings of the process.
Status NoMappings(size_t bytes) {
    return Error(
        ACL_ERROR_RT_MEMORY_ALLOCATION,
        "size is {} bytes between unmapped pages; expected no more than the host can give, "
        "and fewer mappings of the process than vm.max_map_count",
        bytes);
}

// Returns the first byte of [begin, end) that is not that of the pattern, or `end`.
uintptr_t FirstWritten(uintptr_t begin, uintptr_t end) {
    const auto wrong = std::find_if(At(begin), At(end), [](uint8_t b) { return b != kPattern; });
    return reinterpret_cast<uintptr_t>(wrong);
}

// The functions from here to DescribeAccess run in the signal handler.

// "offset 24 of the 24 bytes at 0x7f.. of aclrtMalloc on device 0"
void Describe(SignalLine& line, const GuardRecord& record, uintptr_t address) {
    const uintptr_t begin = record.begin.load(std::memory_order_relaxed);
    const int32_t device = record.device.load(std::memory_order_relaxed);
    line << "offset ";
    line.Offset(static_cast<int64_t>(address - begin));
    line << " of the ";
    line.Number(record.bytes.load(std::memory_order_relaxed)) << " bytes at ";
    line.Address(begin) << (device == GuardRecord::kPinned ? " of aclrtMallocHost"
                                                           : " of aclrtMalloc on device ");
    if (device != GuardRecord::kPinned) {
        line.Number(static_cast<uint64_t>(device));
    }
}

void Expect(SignalLine& line, const GuardRecord& record) {
    line << "; expected an offset from 0 to ";
    line.Number(record.bytes.load(std::memory_order_relaxed) - 1);
}

const char* AccessOf(const void* context) {
#ifdef __x86_64__
    constexpr greg_t kWriteBit = 2;  // of the page fault's error code
    const auto* const user = static_cast<const ucontext_t*>(context);
    return (user->uc_mcontext.gregs[REG_ERR] & kWriteBit) != 0 ? "write" : "read";
#else
    (void)context;
    return "access";
#endif
}

void DescribeAccess(int, const siginfo_t& info, const void* context) {
    const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
    const GuardRecord* const record = info.si_code > 0 ? TheGuardedMemory().Find(address) : nullptr;
    if (record == nullptr) {
        return;
    }
    const bool freed = record->freed.load(std::memory_order_relaxed);
    SignalLine line;
    line << "advance_step error: guard: " << AccessOf(context) << " at ";
    line.Address(address) << ", " << (freed ? "in freed memory: " : "");
    Describe(line, *record, address);
    if (freed) {
        line << "; expected memory that has not been freed";
    } else {
        Expect(line, *record);
    }
    line.Write();
}

// Says that the byte at `address`, beside the block, is no longer that of the pattern.
void TellOfWrittenEdge(const GuardRecord& record, uintptr_t address, const char* when) {
    SignalLine line;
    line << "advance_step error: guard: ";
    line.Address(address) << " has been written before " << when << ", ";
    Describe(line, record, address);
    Expect(line, record);
    line.Write();
}

std::atomic<bool> exitHooked{false};
void CheckGuardsAtExit(int, void*) { TheGuardedMemory().CheckAtExit(); }

}  // namespace

GuardedMemory& TheGuardedMemory() {
    static NeverDestroyed<GuardedMemory> memory;
    return *memory;
}

void GuardedMemory::SetMode(GuardMode mode) {
    if (mode != GuardMode::kOff) {
        DescribeCrashes({SIGSEGV, SIGBUS}, &DescribeAccess);
        if (!exitHooked.exchange(true)) {
            PrepareExitStatus();
            (void)on_exit(&CheckGuardsAtExit, nullptr);
        }
    }
    mode_.store(mode, std::memory_order_relaxed);
}

Status GuardedMemory::Allocate(size_t bytes, size_t alignment, int32_t device,
                               GuardRecord** record) {
    EnsureAlternateStack();
    const std::lock_guard<std::mutex> lock(mutex_);
    GuardRecord* const taken = TakeRecord();
    if (taken == nullptr) {
        return Status(ACL_ERROR_BAD_ALLOC);
    }
    taken->device.store(device, std::memory_order_relaxed);
    Status placed = Place(taken, bytes, alignment);
    if (!placed.ok()) {
        // The quarantine may hold the addresses that are missing.
        ShrinkQuarantine(0, 0);
        placed = Place(taken, bytes, alignment);
    }
    if (!placed.ok()) {
        taken->nextInList = unused_;
        unused_ = taken;
        return placed;
    }
    *record = taken;
    return {};
}

GuardRecord* GuardedMemory::TakeRecord() {
    if (unused_ != nullptr) {
        GuardRecord* const record = unused_;
        unused_ = record->nextInList;
        return record;
    }
    auto* const record = new (std::nothrow) GuardRecord;
    if (record == nullptr) {
        return nullptr;
    }
    record->nextEver = all_.load(std::memory_order_relaxed);
    all_.store(record, std::memory_order_release);
    return record;
}

// Reserves the addresses first, and then makes memory of their middle.
Status GuardedMemory::Place(GuardRecord* record, size_t bytes, size_t alignment) {
    const size_t page = PageBytes();
    const size_t unit = std::max(alignment, page);
    const size_t pageBytes = RoundUp(bytes, page);
    const size_t rangeBytes = unit + pageBytes + page;  // the unit in front keeps the alignment
    void* const range = ReserveAddresses(nullptr, rangeBytes, unit);
    if (range == nullptr) {
        return NoMappings(bytes);
    }
    const uintptr_t pages = reinterpret_cast<uintptr_t>(range) + unit;
    if (Status made = MakeMemory(record, At(pages), pageBytes); !made.ok()) {
        ReleaseAddresses(range, rangeBytes);
        return made;
    }
    const bool atEnd = mode_.load(std::memory_order_relaxed) == GuardMode::kAfter;
    // A block that is aligned to more than a page begins with its first page, so its end is as near
    // to the unmapped page as its size allows.
    const uintptr_t begin =
        atEnd && alignment <= page ? pages + pageBytes - RoundUp(bytes, alignment) : pages;
    std::memset(At(pages), kPattern, begin - pages);
    std::memset(At(begin + bytes), kPattern, pages + pageBytes - begin - bytes);
    record->pages = pages;
    record->pageBytes = pageBytes;
    record->rangeBytes.store(rangeBytes, std::memory_order_relaxed);
    record->begin.store(begin, std::memory_order_relaxed);
    record->bytes.store(bytes, std::memory_order_relaxed);
    record->freed.store(false, std::memory_order_relaxed);
    record->range.store(reinterpret_cast<uintptr_t>(range), std::memory_order_release);
    return {};
}

// The pages of a device are those of a file, which other processes can map.
Status GuardedMemory::MakeMemory(GuardRecord* record, uint8_t* pages, size_t bytes) {
    if (record->device.load(std::memory_order_relaxed) == GuardRecord::kPinned) {
        return mprotect(pages, bytes, PROT_READ | PROT_WRITE) == 0 ? Status() : NoMappings(bytes);
    }
    PageRange* taken = nullptr;
    Status made;
    try {
        ADVSTEP_RETURN_IF_ERROR(TheUnmappedPages().Take(bytes, PageBytes(), &taken));
        const int file = PagePool::FileOf(*taken);
        made = PagePool::MapAt(pages, bytes, file, taken->offset);
        if (made.ok()) {
            record->forkRange = EnterForkRange(pages, bytes, file, taken->offset);
            record->filePages = taken;
            return {};
        }
    } catch (const std::bad_alloc&) {
        made = Status(ACL_ERROR_BAD_ALLOC);
    }
    if (taken != nullptr) {
        TheUnmappedPages().GiveBack(taken);
    }
    return made;
}

// Returns the first byte beside the block that has been written, or 0.
uintptr_t GuardedMemory::FindWrittenEdge(const GuardRecord& record) {
    const uintptr_t begin = record.begin.load(std::memory_order_relaxed);
    const uintptr_t end = begin + record.bytes.load(std::memory_order_relaxed);
    const uintptr_t pagesEnd = record.pages + record.pageBytes;
    const uintptr_t before = FirstWritten(record.pages, begin);
    if (before != begin) {
        return before;
    }
    const uintptr_t behind = FirstWritten(end, pagesEnd);
    return behind != pagesEnd ? behind : 0;
}

void GuardedMemory::CheckEdges(const GuardRecord& record) const {
    if (const uintptr_t wrong = FindWrittenEdge(record); wrong != 0) {
        TellOfWrittenEdge(record, wrong, "the free");
        std::abort();
    }
}

void GuardedMemory::CheckAtExit() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const GuardRecord* record = all_.load(std::memory_order_acquire); record != nullptr;
         record = record->nextEver) {
        // A range that is given back is cleared; a freed one has no memory.
        if (record->range.load(std::memory_order_acquire) == 0 || record->freed.load()) {
            continue;
        }
        if (const uintptr_t wrong = FindWrittenEdge(*record); wrong != 0) {
            TellOfWrittenEdge(*record, wrong, "the end of the process");
            FailAtExit();
        }
    }
}

void GuardedMemory::Free(GuardRecord* record) noexcept {
    CheckEdges(*record);
    const std::lock_guard<std::mutex> lock(mutex_);
    // The flag is set before an access there can raise a signal.
    record->freed.store(true, std::memory_order_relaxed);
    DropMemory(record);
    record->nextInList = nullptr;
    (oldest_ == nullptr ? oldest_ : newest_->nextInList) = record;
    newest_ = record;
    ++quarantinedBlocks_;
    quarantinedBytes_ += record->rangeBytes.load(std::memory_order_relaxed);
    ShrinkQuarantine(kMostQuarantinedBlocks, kMostQuarantinedBytes);
}

void GuardedMemory::DropMemory(GuardRecord* record) noexcept {
    ForgetForkRecord(std::exchange(record->forkRange, nullptr));
    (void)VacateAddresses(At(record->pages), record->pageBytes);
    if (record->filePages != nullptr) {
        TheUnmappedPages().GiveBack(std::exchange(record->filePages, nullptr));
    }
}

void GuardedMemory::ShrinkQuarantine(size_t mostBlocks, size_t mostBytes) {
    while (quarantinedBlocks_ > mostBlocks || quarantinedBytes_ > mostBytes) {
        GuardRecord* const record = oldest_;
        oldest_ = record->nextInList;
        const size_t rangeBytes = record->rangeBytes.load(std::memory_order_relaxed);
        --quarantinedBlocks_;
        quarantinedBytes_ -= rangeBytes;
        // The range is cleared first: Find must not return the record once its addresses may belong
        // to something else.
        ReleaseAddresses(At(record->range.exchange(0)), rangeBytes);
        record->nextInList = unused_;
        unused_ = record;
    }
}

const GuardRecord* GuardedMemory::Find(uintptr_t address) const {
    for (const GuardRecord* record = all_.load(std::memory_order_acquire); record != nullptr;
         record = record->nextEver) {
        const uintptr_t range = record->range.load(std::memory_order_acquire);
        if (range != 0 && address - range < record->rangeBytes.load(std::memory_order_relaxed)) {
            return record;
        }
    }
    return nullptr;
}

}  // namespace advstep
