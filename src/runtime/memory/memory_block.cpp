// SPDX-License-Identifier: Apache-2.0
// Takes the bytes of allocations from the host or from guarded memory.

#include "src/runtime/memory/memory_block.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#include "acl/acl_base.h"
#include "src/base/host_memory.h"
#include "src/runtime/device/device.h"
#include "src/runtime/faults/fault_injection.h"
#include "src/runtime/memory/address_range.h"
#include "src/runtime/memory/guarded_memory.h"
#include "src/runtime/memory/page_poison.h"

namespace advstep {
namespace {

constexpr size_t kAlignment = 512;

Status HostLacks(size_t bytes) {
    return Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                 "size is {} bytes; expected no more than the host can give", bytes);
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

constexpr size_t kBetween = kPoisonsPages ? PagePool::kPage : 0;  // between two blocks

// Takes whole pages, so that another process that maps them sees nothing of other blocks.
Status TakePages(size_t bytes, size_t alignment, BlockSource* source, void** address) {
    const size_t whole =
        (bytes + PagePool::kPage - 1) / PagePool::kPage * PagePool::kPage + kBetween;
    ADVSTEP_RETURN_IF_ERROR(TheMappedPages().Take(whole, alignment, &source->pages));
    *address = PagePool::Address(*source->pages);
    PoisonPages(static_cast<uint8_t*>(*address) + bytes, whole - bytes);
    return {};
}

Status TakeGuarded(size_t bytes, size_t alignment, const Device* device, BlockSource* source,
                   void** address) {
    const int32_t owner = device != nullptr ? device->id() : GuardRecord::kPinned;
    ADVSTEP_RETURN_IF_ERROR(TheGuardedMemory().Allocate(bytes, alignment, owner, &source->guard));
    source->pages = source->guard->filePages;
    *address = reinterpret_cast<void*>(source->guard->begin.load());
    return {};
}

}  // namespace

Status CheckHostHolds(size_t bytes) {
    // A promise of more would end in the system's out-of-memory killer.
    const uint64_t most = HostCapacity();
    return bytes <= most
               ? Status()
               : Error(ACL_ERROR_RT_MEMORY_ALLOCATION,
                       "size is {} bytes; expected at most the {} bytes that the host can hold, "
                       "whatever ADVANCE_STEP_MEMORY says",
                       bytes, most);
}

Status TakeBlock(size_t bytes, const Device* device, BlockSource* source, void** address) {
    ADVSTEP_RETURN_IF_ERROR(CheckHostHolds(bytes));
    if (AllocationFails(AllocationKind::kMemory)) {
        return HostLacks(bytes);
    }
    const bool guarded = TheGuardedMemory().On();
    const size_t alignment = AlignmentOf(bytes, device, guarded);
    if (guarded) {
        return TakeGuarded(bytes, alignment, device, source, address);
    }
    if (device != nullptr && bytes >= kSharedBlock) {
        return TakePages(bytes, alignment, source, address);
    }
    if (posix_memalign(address, alignment, bytes) != 0) {
        return HostLacks(bytes);
    }
    if (alignment == kLargePage) {
        // The hint saves TLB misses on wide block tables.
        (void)madvise(*address, bytes, MADV_HUGEPAGE);
    }
    return {};
}

void GiveBackBlock(void* address, const BlockSource& source) noexcept {
    if (source.guard != nullptr) {
        TheGuardedMemory().Free(source.guard);
    } else if (source.pages != nullptr) {
        PoisonPages(address, source.pages->bytes);  // although another process may still use them
        TheMappedPages().GiveBack(source.pages);
    } else {
        std::free(address);
    }
}

}  // namespace advstep
