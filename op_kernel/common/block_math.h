// SPDX-License-Identifier: Apache-2.0
// Turns positions into block table columns and slots without a division for each row.

#pragma once

#include <cstdint>
#include <limits>

namespace advstep {

enum class BlockDivision : int32_t {
    kShift,     // blockSize is a power of two
    kMultiply,  // positions below 2^31: by a multiplier and a shift
    kDivide,    // the rest: tables for more than 2^31 tokens, which are not usual
};

/// The numbers that replace the division. The host computes them once for each plan.
struct BlockMath {
    /// Positions below this number, and only they, have a column in the table and a length that
    /// fits its tensor.
    int64_t positions;
    /// Every slot of a block up to this id fits its tensor. A later block may have some slots that
    /// fit.
    int64_t lastBlock;
    int64_t blockSize;
    uint32_t multiplier;  // kMultiply: column = position * multiplier >> shift
    uint8_t shift;
    BlockDivision division;
};

/// Requires blockSize >= 1 and maxBlocks >= 0. lastLength and lastSlot are the largest values that
/// the tensors hold.
inline BlockMath MakeBlockMath(int64_t blockSize, int64_t maxBlocks, int64_t lastLength,
                               int64_t lastSlot) {
    constexpr int64_t kMostMultiplied = int64_t{1} << 31;
    BlockMath math{};
    math.blockSize = blockSize;
    int64_t tokens = 0;
    if (__builtin_mul_overflow(blockSize, maxBlocks, &tokens)) {
        tokens = std::numeric_limits<int64_t>::max();
    }
    math.positions = tokens < lastLength ? tokens : lastLength;
    const int64_t lastOffset = blockSize - 1;
    math.lastBlock = lastSlot < lastOffset ? -1 : (lastSlot - lastOffset) / blockSize;
    int bits = 0;  // the bits that blockSize - 1 needs
    while (bits < 63 && (lastOffset >> bits) != 0) {
        ++bits;
    }
    if ((blockSize & lastOffset) == 0) {
        math.division = BlockDivision::kShift;
        math.shift = static_cast<uint8_t>(bits);
    } else if (tokens > 0 && tokens <= kMostMultiplied) {
        // The multiplier is 2^(31 + bits) / blockSize, rounded up: its error, less than blockSize
        // <= 2^bits, times a position < 2^31 stays below 2^(31 + bits), so the quotient is exact
        // (T. Granlund, P. Montgomery, "Division by Invariant Integers using Multiplication",
        // PLDI 1994, theorem 4.2).
        math.division = BlockDivision::kMultiply;
        math.shift = static_cast<uint8_t>(31 + bits);
        const uint64_t size = static_cast<uint64_t>(blockSize);
        math.multiplier = static_cast<uint32_t>(((uint64_t{1} << math.shift) + (size - 1)) / size);
    } else {
        math.division = BlockDivision::kDivide;
    }
    return math;
}

/// Returns position / blockSize for a position below `math.positions`.
inline int64_t ColumnOf(const BlockMath& math, int64_t position) {
    switch (math.division) {
        case BlockDivision::kShift:
            return position >> math.shift;
        case BlockDivision::kMultiply:
            return static_cast<int64_t>(static_cast<uint64_t>(position) * math.multiplier >>
                                        math.shift);
        default:
            return position / math.blockSize;
    }
}

}  // namespace advstep
