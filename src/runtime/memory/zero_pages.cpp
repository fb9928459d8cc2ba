// SPDX-License-Identifier: Apache-2.0
// Gives pages back in place of writing zeros to them.

#include "src/runtime/memory/zero_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "src/base/no_cancellation.h"
#include "src/runtime/memory/large_pages.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/memory/page_move.h"
#include "src/runtime/memory/page_pool.h"

namespace advstep {
namespace {

constexpr size_t kLeast = size_t{2} << 20;
// A range that the host has to give new pages later costs twice the time of one that is written.
// Only so large a one is worth it where the pages are there already.
constexpr size_t kGivenBack = size_t{64} << 20;
constexpr size_t kPagesPerLook = 2048;

// Returns whether the host makes holes that read as zeros, in pages of the size that is counted on
// here. qemu's emulation of a process takes the call for a hint and does nothing.
bool TryHole() noexcept {
    const NoCancellation noCancellation;
    bool hole = false;
    const int file = memfd_create("advance_step", MFD_CLOEXEC);
    if (file >= 0 && sysconf(_SC_PAGESIZE) == static_cast<long>(PagePool::kPage) &&
        SetFileSize(file, PagePool::kPage)) {
        void* const page =
            mmap(nullptr, PagePool::kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (page != MAP_FAILED) {
            auto* const byte = static_cast<volatile char*>(page);
            *byte = 1;
            hole = madvise(page, PagePool::kPage, MADV_REMOVE) == 0 && *byte == 0;
            (void)munmap(page, PagePool::kPage);
        }
    }
    if (file >= 0) {
        (void)close(file);
    }
    return hole;
}

bool HostMakesHoles() noexcept {
    static std::atomic<int> holes{-1};  // -1: not tried; several threads may try at the same time
    int known = holes.load(std::memory_order_relaxed);
    if (known < 0) {
        known = TryHole() ? 1 : 0;
        holes.store(known, std::memory_order_relaxed);
    }
    return known == 1;
}

// Returns whether the memory is of files that this library has made. A hole in a file of the
// program might surprise it.
bool IsOwn(const void* address) {
    bool own = false;
    TheDeviceMemory().WithBlock(address, [&own](const Allocation& block) {
        own = block.origin != MemoryOrigin::kRegistered;
    });
    return own;
}

// Makes whole pages a hole of the file that is mapped there, or writes zeros where the host cannot:
// the memory is no file's, or is read-only at the moment.
void GiveBack(uint8_t* begin, size_t bytes) noexcept {
    bool given = false;
    {
        // The kernel looks for the file first and makes the hole later. If the pages moved to
        // another file between the two, the hole would come into the file that they have left.
        const PagesStay stay;
        given = madvise(begin, bytes, MADV_REMOVE) == 0;
    }
    if (given) {
        LargePagesParted(begin, bytes);
    } else {
        std::memset(begin, 0, bytes);
    }
}

// Writes zeros to the pages that are there. The others are holes, or elsewhere than in memory, so
// these are given back.
void WriteWhereTouched(uint8_t* begin, size_t bytes) noexcept {
    unsigned char present[kPagesPerLook];
    for (size_t done = 0; done < bytes;) {
        uint8_t* const at = begin + done;
        const size_t look = std::min(bytes - done, kPagesPerLook * PagePool::kPage);
        const size_t pages = look / PagePool::kPage;
        if (mincore(at, look, present) != 0) {
            std::memset(at, 0, look);
            done += look;
            continue;
        }
        for (size_t first = 0; first < pages;) {
            const bool touched = (present[first] & 1) != 0;
            size_t end = first + 1;
            while (end < pages && ((present[end] & 1) != 0) == touched) {
                ++end;
            }
            const size_t run = (end - first) * PagePool::kPage;
            if (touched) {
                std::memset(at + first * PagePool::kPage, 0, run);
            } else {
                GiveBack(at + first * PagePool::kPage, run);
            }
            first = end;
        }
        done += look;
    }
}

}  // namespace

void FillWithZeros(void* address, size_t bytes) noexcept {
    auto* const begin = static_cast<uint8_t*>(address);
    const int before = errno;
    if (bytes < kLeast || !IsOwn(address) || !HostMakesHoles()) {
        std::memset(begin, 0, bytes);
        errno = before;
        return;
    }
    const size_t head = -reinterpret_cast<uintptr_t>(begin) % PagePool::kPage;
    const size_t whole = (bytes - head) / PagePool::kPage * PagePool::kPage;
    std::memset(begin, 0, head);
    if (whole >= kGivenBack) {
        GiveBack(begin + head, whole);
    } else {
        WriteWhereTouched(begin + head, whole);
    }
    std::memset(begin + head + whole, 0, bytes - head - whole);
    errno = before;
}

}  // namespace advstep
