// SPDX-License-Identifier: Apache-2.0
// Takes the bytes of allocations from the host or from guarded memory.

#include "src/runtime/memory/memory_block.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "src/runtime/device/device.h"
#include "src/runtime/faults/fault_injection.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/guarded_memory.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace advstep {
namespace {

constexpr size_t kAlignment = 512;

uint64_t HostBytes() {
    return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// A guarded block of the device keeps the smaller alignment, because its end is then nearer to the
// unmapped page.
size_t AlignmentOf(size_t bytes, const Device* device, bool guarded) {
    if (bytes >= kLargePage) {
        return kLargePage;
    }
    const bool page = device == nullptr || (bytes >= PagePool::kPage && !guarded);
    return page ? PagePool::kPage : kAlignment;
}

// The address sanitizer knows nothing of pages that are parted here.
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kBetween = PagePool::kPage;  // between two blocks
void Poison(void* begin, size_t bytes) { __asan_poison_memory_region(begin, bytes); }
void Unpoison(void* begin, size_t bytes) { __asan_unpoison_memory_region(begin, bytes); }
#else
constexpr size_t kBetween = 0;
void Poison(void* begin, size_t bytes) { (void)begin, (void)bytes; }
void Unpoison(void* begin, size_t bytes) { (void)begin, (void)bytes; }
#endif

// Takes whole pages, so that another process that maps them sees nothing of other blocks.
void* TakePages(size_t bytes, size_t alignment, BlockSource* source) {
    const size_t whole =
        (bytes + PagePool::kPage - 1) / PagePool::kPage * PagePool::kPage + kBetween;
    if (!TheMappedPages().Take(whole, alignment, &source->pages).ok()) {
        return nullptr;
    }
    void* const address = PagePool::Address(*source->pages);
    Poison(address, whole);
    Unpoison(address, bytes);
    return address;
}

}  // namespace

void* TakeBlock(size_t bytes, const Device* device, BlockSource* source) {
    if (bytes > HostBytes() || AllocationFails(AllocationKind::kMemory)) {
        return nullptr;  // posix_memalign would promise more than the host has
    }
    const bool guarded = TheGuardedMemory().On();
    const size_t alignment = AlignmentOf(bytes, device, guarded);
    if (guarded) {
        const int32_t owner = device != nullptr ? device->id() : GuardRecord::kPinned;
        source->guard = TheGuardedMemory().Allocate(bytes, alignment, owner);
        if (source->guard == nullptr) {
            return nullptr;
        }
        source->pages = source->guard->filePages;
        return reinterpret_cast<void*>(source->guard->begin.load());
    }
    if (device != nullptr && bytes >= kSharedBlock) {
        return TakePages(bytes, alignment, source);
    }
    void* address = nullptr;
    if (posix_memalign(&address, alignment, bytes) != 0) {
        return nullptr;
    }
    if (alignment == kLargePage) {
        // The hint saves TLB misses on wide block tables.
        (void)madvise(address, bytes, MADV_HUGEPAGE);
    }
    return address;
}

void GiveBackBlock(void* address, const BlockSource& source) noexcept {
    if (source.guard != nullptr) {
        TheGuardedMemory().Free(source.guard);
    } else if (source.pages != nullptr) {
        Poison(address, source.pages->bytes);
        TheMappedPages().GiveBack(source.pages);
    } else {
        std::free(address);
    }
}

}  // namespace advstep
