// SPDX-License-Identifier: Apache-2.0
// Implements memory on large pages.

#include "tests/benchmark/large_pages.h"

#include <sys/mman.h>

#include <cstring>
#include <new>

void UnmapPages::operator()(unsigned char* memory) const { (void)munmap(memory, bytes); }

LargePages MapLargePages(size_t bytes) {
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::bad_alloc();
    }
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
    std::memset(memory, 1, bytes);  // the pages come now
    return LargePages(static_cast<unsigned char*>(memory), UnmapPages{bytes});
}
