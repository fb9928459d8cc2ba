// SPDX-License-Identifier: Apache-2.0
// A copy by all hardware threads: what the machine's memory can move.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tests/benchmark/crew.h"

/// Copies large memory to other memory, both on large pages where the system has them, with a share
/// for each hardware thread.
class PlainCopy {
 public:
    /// A run reads and writes so many bytes, together.
    explicit PlainCopy(int64_t movedBytes);

    /// Nanoseconds of a run.
    double Run();

 private:
    struct Unmap {
        size_t bytes;
        void operator()(unsigned char* memory) const;
    };
    using Pages = std::unique_ptr<unsigned char, Unmap>;
    static Pages Map(size_t bytes);

    size_t bytes_;
    int threads_;
    Pages from_, to_;
    Crew crew_;
};
