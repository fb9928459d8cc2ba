// SPDX-License-Identifier: Apache-2.0
// The loops over rows for AVX2 and AVX-512, four rows at a time. Included by advance_step_lanes.cpp
// only, under its rules.
//
// GCC computes the places of the block ids as a vector and takes them out again one by one, at two
// instructions each. Here they are computed as numbers. Vectors of eight rows won nothing over
// four.

#pragma once

#include <immintrin.h>

#include <cstdint>

#include "op_kernel/advance_step/load_two.h"

namespace advstep {
namespace ADVSTEP_ISA {
namespace {

constexpr int64_t kFour = 4;

using FourNumbers __attribute__((vector_size(32))) = uint64_t;

template <typename Element>
struct Four {
    typedef Element Values __attribute__((vector_size(4 * sizeof(Element))));
    typedef Element InMemory
        __attribute__((vector_size(4 * sizeof(Element)), aligned(alignof(Element)), may_alias));
};

[[gnu::always_inline]] inline FourNumbers FourOf(uint64_t value) {
    return FourNumbers{value, value, value, value};
}

template <typename Element>
[[gnu::always_inline]] inline FourNumbers LoadFour(const Element* from) {
    const auto& values = *reinterpret_cast<const typename Four<Element>::InMemory*>(from);
    return __builtin_convertvector(values, FourNumbers);
}

template <typename Element>
[[gnu::always_inline]] inline void StoreFour(FourNumbers values, Element* to) {
    *reinterpret_cast<typename Four<Element>::InMemory*>(to) =
        __builtin_convertvector(values, typename Four<Element>::Values);
}

// Keeps GCC from computing the number as a part of a vector.
[[gnu::always_inline]] inline uint64_t AsNumber(uint64_t value) {
    asm("" : "+r"(value));
    return value;
}

// The sign bit of Outside(x, last) is set for x < 0 and x > last. The arithmetic is unsigned, so
// that it may wrap on a bad value.
template <typename Numbers>
[[gnu::always_inline]] inline Numbers Outside(Numbers value, uint64_t last) {
    return value | (last - value);
}

[[gnu::always_inline]] inline bool Negative(uint64_t signs) { return (signs >> 63) != 0; }

[[gnu::always_inline]] inline bool AnyNegative(FourNumbers signs) {
    return _mm256_movemask_pd(reinterpret_cast<__m256d>(signs)) != 0;
}

// The block id of a row whose position is inside the table.
template <typename Division, typename Table>
[[gnu::always_inline]] inline uint64_t LoadBlock(const Division& division, uint64_t position,
                                                 const Table* blocks) {
    return static_cast<uint64_t>(int64_t{blocks[AsNumber(division.Column(position))]});
}

template <typename Division, typename Length, typename Table>
[[gnu::always_inline]] inline FourNumbers LoadFourBlocks(const Division& division,
                                                         const Length* lengths, uint64_t added,
                                                         const Table* blocks, int64_t stride) {
    const auto entry = [&](int64_t row) {
        const uint64_t position = static_cast<uint64_t>(lengths[row]) + added;
        return blocks + row * stride + AsNumber(division.Column(position));
    };
    return reinterpret_cast<FourNumbers>(
        TwoAndTwo(LoadTwo(entry(0), entry(1)), LoadTwo(entry(2), entry(3))));
}

// Computes the slots of four rows, whose positions are inside the table. The sign bits of the
// result tell bad block ids.
template <typename Division, typename Length, typename Slot, typename Table>
[[gnu::always_inline]] inline FourNumbers PlaceFour(const Division& division, FourNumbers position,
                                                    const Length* lengths, uint64_t added,
                                                    const Table* blocks, int64_t stride,
                                                    uint64_t lastBlock, Slot* slots) {
    const FourNumbers block = LoadFourBlocks(division, lengths, added, blocks, stride);
    const FourNumbers signs = Outside(block, lastBlock);
    StoreFour(division.Slot(block, division.Column(position), position), slots);
    return signs;
}

// Computes the slots. Returns false if a row may be bad; then slots may be missing.
template <bool kAhead, typename Division, typename Length, typename Slot, typename Table>
[[gnu::always_inline]] inline bool PlaceChecked(const Division division,
                                                const Length* __restrict lengths, uint64_t added,
                                                uint64_t lastPosition,
                                                const Table* __restrict blocks, int64_t stride,
                                                uint64_t lastBlock, Slot* __restrict slots,
                                                int64_t rows) {
    FourNumbers fourSigns = FourOf(lastBlock);
    int64_t row = 0;
    for (; row + kFour <= rows; row += kFour, blocks += kFour * stride) {
        const FourNumbers position = LoadFour(lengths + row) + added;
        if (AnyNegative(Outside(position, lastPosition))) {
            return false;
        }
        fourSigns |= PlaceFour(division, position, lengths + row, added, blocks, stride, lastBlock,
                               slots + row);
    }
    // The last rows together with some that have been placed already.
    if (!kAhead && row < rows && rows >= kFour) {
        blocks -= (kFour - (rows - row)) * stride;
        row = rows - kFour;
        const FourNumbers position = LoadFour(lengths + row) + added;
        if (AnyNegative(Outside(position, lastPosition))) {
            return false;
        }
        fourSigns |= PlaceFour(division, position, lengths + row, added, blocks, stride, lastBlock,
                               slots + row);
        return !AnyNegative(fourSigns);
    }
    uint64_t signs = lastBlock;
    for (; row < rows; ++row, blocks += stride) {
        const uint64_t position = AsNumber(static_cast<uint64_t>(lengths[row]) + added);
        if (Negative(Outside(position, lastPosition))) {
            return false;
        }
        const uint64_t block = LoadBlock(division, position, blocks);
        signs |= Outside(block, lastBlock);
        slots[row] = static_cast<Slot>(
            static_cast<int64_t>(division.Slot(block, division.Column(position), position)));
    }
    return !Negative(signs) && !AnyNegative(fourSigns);
}

// Moves rows that have been checked.
template <typename Division, typename Length, typename Slot, typename Table>
[[gnu::always_inline]] inline void PlaceAndMove(
    const Division division, const Table* __restrict blocks, int64_t stride,
    const int64_t* __restrict sampled, int64_t* __restrict tokens, int64_t* __restrict positions,
    Length* __restrict lengths, Slot* __restrict slots, int64_t rows) {
    int64_t row = 0;
    for (; row + kFour <= rows; row += kFour, blocks += kFour * stride) {
        const FourNumbers position = LoadFour(lengths + row);
        const FourNumbers block = LoadFourBlocks(division, lengths + row, 0, blocks, stride);
        StoreFour(LoadFour(sampled + row), tokens + row);
        StoreFour(position, positions + row);
        StoreFour(division.Slot(block, division.Column(position), position), slots + row);
        StoreFour(position + 1, lengths + row);
    }
    for (; row < rows; ++row, blocks += stride) {
        const uint64_t position = AsNumber(static_cast<uint64_t>(int64_t{lengths[row]}));
        const uint64_t block = LoadBlock(division, position, blocks);
        tokens[row] = sampled[row];
        positions[row] = static_cast<int64_t>(position);
        slots[row] = static_cast<Slot>(
            static_cast<int64_t>(division.Slot(block, division.Column(position), position)));
        lengths[row] = static_cast<Length>(position + 1);
    }
}

}  // namespace
}  // namespace ADVSTEP_ISA
}  // namespace advstep
