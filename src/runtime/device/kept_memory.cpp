// SPDX-License-Identifier: Apache-2.0
// Lends the kept memory to one launch at a time.

#include "src/runtime/device/kept_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

namespace advstep {
namespace {

// With a hint to use large pages where they fit.
unsigned char* TakeHostMemory(int64_t bytes) {
    constexpr size_t kLarge = size_t{2} << 20;
    constexpr size_t kSmall = 64;  // a line of the caches
    const auto size = static_cast<size_t>(bytes);
    void* memory = nullptr;
    if (posix_memalign(&memory, size >= kLarge ? kLarge : kSmall, size) != 0) {
        return nullptr;
    }
    if (size >= kLarge) {
        (void)madvise(memory, size, MADV_HUGEPAGE);
    }
    return static_cast<unsigned char*>(memory);
}

}  // namespace

KeptMemory::KeptMemory() : memory_(nullptr, [](unsigned char* memory) { std::free(memory); }) {}

KeptMemory::Lease KeptMemory::Borrow(int64_t bytes) {
    if (taken_.exchange(true, std::memory_order_acquire)) {
        return {nullptr, 0};
    }
    const int64_t wanted = std::min(bytes, kMostBytes);
    if (size_ < wanted) {
        memory_.reset();
        memory_.reset(TakeHostMemory(wanted));
        size_ = memory_ != nullptr ? wanted : 0;
    }
    return {this, std::min(wanted, size_)};
}

void KeptMemory::Free() {
    memory_.reset();
    size_ = 0;
}

}  // namespace advstep
