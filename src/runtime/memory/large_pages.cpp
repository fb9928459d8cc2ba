// SPDX-License-Identifier: Apache-2.0
// Asks the host for large pages.

#include "src/runtime/memory/large_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>

#include "src/runtime/memory/memories.h"
#include "src/runtime/memory/page_pool.h"

namespace advstep {
namespace {

constexpr int kCollapse = 25;  // MADV_COLLAPSE, which headers before Linux 6.1 do not name

// Cleared for good by a host that has no large pages for files, or does not know the call.
std::atomic<bool> hostCollapses{true};

struct Run {
    uint8_t* begin;
    size_t bytes;  // whole large pages
};

bool MayHaveLargePages(const Allocation& block) {
    return block.origin == MemoryOrigin::kAllocated && block.pages != nullptr &&
           block.guard == nullptr;
}

// Marks the first large pages in [begin, end) that the host was not asked for, as many as follow
// one another, and returns them. The lock of the memory map keeps the block and its file meanwhile:
// another thread may free the block under a copy that the caller makes at once.
Run TakeRun(uint8_t* begin, uint8_t* end) noexcept {
    Run run{nullptr, 0};
    TheDeviceMemory().WithBlock(begin, [&](const Allocation& block) {
        if (!MayHaveLargePages(block)) {
            return;
        }
        PageFile& file = *block.pages->file;
        const auto base = reinterpret_cast<uintptr_t>(file.base);
        const size_t beyond =
            (std::min(reinterpret_cast<uintptr_t>(end), block.end()) - base) / kLargePage;
        size_t page = (reinterpret_cast<uintptr_t>(begin) - base + kLargePage - 1) / kLargePage;
        while (page < beyond && file.asked[page].load(std::memory_order_relaxed)) {
            ++page;
        }
        const size_t first = page;
        while (page < beyond && !file.asked[page].exchange(true, std::memory_order_relaxed)) {
            ++page;
        }
        run = {file.base + first * kLargePage, (page - first) * kLargePage};
    });
    return run;
}

// Nothing is lost where the host cannot: the pages are small then. One page of each large page must
// be there. It is read in a way that the compiler keeps.
void Collapse(const Run& run) noexcept {
    const int before = errno;
    for (size_t offset = 0; offset < run.bytes; offset += kLargePage) {
        (void)__atomic_load_n(run.begin + offset, __ATOMIC_RELAXED);
    }
    if (madvise(run.begin, run.bytes, kCollapse) != 0 && errno == EINVAL) {
        hostCollapses.store(false, std::memory_order_relaxed);
    }
    errno = before;
}

}  // namespace

void AskForLargePages(void* begin, size_t bytes) noexcept {
    if (__builtin_expect(bytes < kLargePage, 1)) {
        return;
    }
    auto* at = static_cast<uint8_t*>(begin);
    uint8_t* const end = at + bytes;
    while (static_cast<size_t>(end - at) >= kLargePage &&
           hostCollapses.load(std::memory_order_relaxed)) {
        const Run run = TakeRun(at, end);
        if (run.bytes == 0) {
            return;
        }
        Collapse(run);
        at = run.begin + run.bytes;
    }
}

void LargePagesParted(void* begin, size_t bytes) noexcept {
    const auto first = reinterpret_cast<uintptr_t>(begin);
    TheDeviceMemory().WithBlock(begin, [&](const Allocation& block) {
        if (!MayHaveLargePages(block)) {
            return;
        }
        PageFile& file = *block.pages->file;
        const auto base = reinterpret_cast<uintptr_t>(file.base);
        const size_t end = std::min(first + bytes, block.end()) - base;
        for (size_t page = (first - base) / kLargePage; page * kLargePage < end; ++page) {
            file.asked[page].store(false, std::memory_order_relaxed);
        }
    });
}

}  // namespace advstep
