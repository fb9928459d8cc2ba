// SPDX-License-Identifier: Apache-2.0
// The moves of an update alone: what one thread's caches allow.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/benchmark/bare_loop.h"

/// Moves what a launch with checks moves, and works out nothing: for each query it reads one block
/// id, at a place known beforehand, and keeps it; afterwards it moves tokens, positions, lengths
/// and what it kept. So nothing is written before all block ids are read. Each array begins with a
/// page, as the device's blocks do.
class PlainMoves {
 public:
    PlainMoves(const BareBatch& initial, int64_t blockSize);

    /// Reads the block ids for the lengths of the start, and raises the lengths by one.
    void Run();

 private:
    struct FreePages {
        void operator()(int64_t* memory) const;
    };
    using Values = std::unique_ptr<int64_t[], FreePages>;
    static Values CopyOf(const std::vector<int64_t>& initial);

    size_t queries_;
    std::vector<int32_t> places_;
    Values sampled_, blocks_, tokens_, positions_, lengths_, slots_, kept_;
};
