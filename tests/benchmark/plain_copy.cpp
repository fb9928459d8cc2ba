// SPDX-License-Identifier: Apache-2.0
// Implements the copy by all hardware threads.

#include "tests/benchmark/plain_copy.h"

#include <algorithm>
#include <cstring>
#include <thread>

PlainCopy::PlainCopy(int64_t movedBytes)
    : bytes_(static_cast<size_t>(movedBytes / 2)),
      threads_(static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))),
      from_(MapLargePages(bytes_)),
      to_(MapLargePages(bytes_)),
      crew_(threads_) {}

double PlainCopy::Run() {
    const size_t share = bytes_ / static_cast<size_t>(threads_);
    return crew_.Run(threads_, [&](int number) {
        const size_t begin = static_cast<size_t>(number) * share;
        const size_t end = number + 1 == threads_ ? bytes_ : begin + share;
        std::memcpy(to_.get() + begin, from_.get() + begin, end - begin);
    });
}
