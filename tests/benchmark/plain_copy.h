// SPDX-License-Identifier: Apache-2.0
// A copy by all hardware threads: what the machine's memory can move.

#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/benchmark/crew.h"
#include "tests/benchmark/large_pages.h"

/// Copies large memory to other memory, both on large pages where the system has them, with a share
/// for each hardware thread.
class PlainCopy {
 public:
    /// A run reads and writes so many bytes, together.
    explicit PlainCopy(int64_t movedBytes);

    /// Nanoseconds of a run.
    double Run();

 private:
    size_t bytes_;
    int threads_;
    LargePages from_, to_;
    Crew crew_;
};
