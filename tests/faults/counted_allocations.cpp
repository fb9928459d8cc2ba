// SPDX-License-Identifier: Apache-2.0
// Replaces operator new by one that counts and can fail.

#include "faults/counted_allocations.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local uint64_t allocations = 0;
thread_local uint64_t first = 0;  // that fails; 0: none
thread_local uint64_t last = 0;
thread_local uint64_t failed = 0;

void* Allocate(size_t bytes, size_t alignment) {
    ++allocations;
    if (first != 0 && allocations >= first && allocations <= last) {
        ++failed;
        return nullptr;
    }
    void* memory = nullptr;
    if (alignment <= alignof(std::max_align_t)) {
        memory = std::malloc(bytes);
    } else if (posix_memalign(&memory, alignment, bytes) != 0) {
        memory = nullptr;
    }
    return memory;
}

void* AllocateOrThrow(size_t bytes, size_t alignment) {
    void* const memory = Allocate(bytes, alignment);
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

}  // namespace

uint64_t faults::AllocationsOfThread() { return allocations; }

void faults::FailAllocationsOfThread(uint64_t n, uint64_t count) {
    first = n == 0 ? 0 : allocations + n;
    last = count > UINT64_MAX - first ? UINT64_MAX : first + count - 1;
    failed = 0;
}

uint64_t faults::FailedAllocationsOfThread() { return failed; }

void* operator new(size_t bytes) { return AllocateOrThrow(bytes, 0); }
void* operator new[](size_t bytes) { return AllocateOrThrow(bytes, 0); }
void* operator new(size_t bytes, std::align_val_t alignment) {
    return AllocateOrThrow(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
    return AllocateOrThrow(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes, 0); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes, 0); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
