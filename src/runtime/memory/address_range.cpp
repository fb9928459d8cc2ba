// SPDX-License-Identifier: Apache-2.0
// Reserves, releases and vacates ranges of addresses by mmap.

#include "src/runtime/memory/address_range.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "src/base/no_cancellation.h"

namespace advstep {
namespace {

constexpr int kAddressesOnly = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

void* ReserveAt(void* wanted, size_t bytes) {
    void* const got = mmap(wanted, bytes, PROT_NONE, kAddressesOnly | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED) {
        return nullptr;
    }
    if (got != wanted) {
        (void)munmap(got, bytes);  // the kernel took the address for a hint
        return nullptr;
    }
    return got;
}

// Reserves a longer range and cuts off both ends.
void* ReserveAligned(size_t bytes, size_t alignment) {
    size_t more = 0;
    if (__builtin_add_overflow(bytes, alignment, &more)) {
        return nullptr;
    }
    void* const got = mmap(nullptr, more, PROT_NONE, kAddressesOnly, -1, 0);
    if (got == MAP_FAILED) {
        return nullptr;
    }
    const auto begin = reinterpret_cast<uintptr_t>(got);
    const uintptr_t aligned = (begin + alignment - 1) / alignment * alignment;
    if (aligned > begin) {
        (void)munmap(got, aligned - begin);
    }
    if (begin + more > aligned + bytes) {
        (void)munmap(reinterpret_cast<void*>(aligned + bytes), begin + more - aligned - bytes);
    }
    return reinterpret_cast<void*>(aligned);
}

}  // namespace

void* ReserveAddresses(void* wanted, size_t bytes, size_t alignment) {
    void* const got = wanted != nullptr ? ReserveAt(wanted, bytes) : nullptr;
    return got != nullptr ? got : ReserveAligned(bytes, alignment);
}

void ReleaseAddresses(void* address, size_t bytes) { (void)munmap(address, bytes); }

// A process with as many mappings as it may have (vm.max_map_count) gets no new one, not even in
// place of an old one. It may protect one, unless that is only a part of what the system has
// joined.
bool VacateAddresses(void* address, size_t bytes) {
    return mmap(address, bytes, PROT_NONE, kAddressesOnly | MAP_FIXED, -1, 0) != MAP_FAILED ||
           mprotect(address, bytes, PROT_NONE) == 0;
}

bool HasMemory(const void* address, size_t bytes) {
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<uintptr_t>(address);
    const uintptr_t first = begin / page * page;
    // msync writes nothing for private memory, does no harm to shared memory, and fails at an
    // address without memory.
    const NoCancellation noCancellation;
    return msync(reinterpret_cast<void*>(first), begin + bytes - first, MS_ASYNC) == 0;
}

}  // namespace advstep
