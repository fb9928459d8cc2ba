// SPDX-License-Identifier: Apache-2.0
// Takes the bytes of allocations from the host or from guarded memory.

#include "src/runtime/memory/memory_block.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "src/runtime/device/device.h"
#include "src/runtime/faults/fault_injection.h"
#include "src/runtime/memory/device_memory.h"
#include "src/runtime/memory/guarded_memory.h"

namespace advstep {
namespace {

constexpr size_t kAlignment = 512;
constexpr size_t kPageAlignment = 4096;

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
    const bool page = device == nullptr || (bytes >= kPageAlignment && !guarded);
    return page ? kPageAlignment : kAlignment;
}

}  // namespace

void* TakeBlock(size_t bytes, const Device* device, GuardRecord** guard) {
    if (bytes > HostBytes() || AllocationFails(AllocationKind::kMemory)) {
        return nullptr;  // posix_memalign would promise more than the host has
    }
    const bool guarded = GuardedMemory::Instance().On();
    const size_t alignment = AlignmentOf(bytes, device, guarded);
    if (guarded) {
        const int32_t owner = device != nullptr ? device->id() : GuardRecord::kPinned;
        *guard = GuardedMemory::Instance().Allocate(bytes, alignment, owner);
        return *guard != nullptr ? reinterpret_cast<void*>((*guard)->begin.load()) : nullptr;
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

void GiveBackBlock(void* address, GuardRecord* guard) noexcept {
    if (guard != nullptr) {
        GuardedMemory::Instance().Free(guard);
    } else {
        std::free(address);
    }
}

}  // namespace advstep
