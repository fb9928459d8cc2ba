// SPDX-License-Identifier: Apache-2.0
// Implements the copy by all hardware threads.

#include "tests/benchmark/plain_copy.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>

void PlainCopy::Unmap::operator()(unsigned char* memory) const { (void)munmap(memory, bytes); }

PlainCopy::Pages PlainCopy::Map(size_t bytes) {
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        throw std::bad_alloc();
    }
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
    std::memset(memory, 1, bytes);  // the pages come now
    return Pages(static_cast<unsigned char*>(memory), Unmap{bytes});
}

PlainCopy::PlainCopy(int64_t movedBytes)
    : bytes_(static_cast<size_t>(movedBytes / 2)),
      threads_(static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))),
      from_(Map(bytes_)),
      to_(Map(bytes_)),
      crew_(threads_) {}

double PlainCopy::Run() {
    const size_t share = bytes_ / static_cast<size_t>(threads_);
    return crew_.Run(threads_, [&](int number) {
        const size_t begin = static_cast<size_t>(number) * share;
        const size_t end = number + 1 == threads_ ? bytes_ : begin + share;
        std::memcpy(to_.get() + begin, from_.get() + begin, end - begin);
    });
}
