// SPDX-License-Identifier: Apache-2.0
// The loops over rows as GCC vectorises them. Included by advance_step_lanes.cpp only, under its
// rules, where there is no AVX2.
//
// They have no branches. Bad values are collected in the sign bit: x < 0 has it set, and so has
// last - x for x > last. The arithmetic is unsigned, so that it may wrap on a bad value.

#pragma once

#include <cstdint>

namespace advstep {
namespace ADVSTEP_ISA {
namespace {

bool Negative(uint64_t signs) { return (signs >> 63) != 0; }

template <typename Length>
bool AllInside(const Length* __restrict lengths, uint64_t added, uint64_t lastPosition,
               int64_t rows) {
    uint64_t signs = lastPosition;
    for (int64_t row = 0; row < rows; ++row) {
        const uint64_t position = static_cast<uint64_t>(lengths[row]) + added;
        signs |= position | (lastPosition - position);
    }
    return !Negative(signs);
}

// Requires that all positions are inside the table.
template <typename Division, typename Length, typename Slot, typename Table>
bool PlaceInside(const Division division, const Length* __restrict lengths, uint64_t added,
                 const Table* __restrict blocks, int64_t stride, uint64_t lastBlock,
                 Slot* __restrict slots, int64_t rows) {
    uint64_t signs = lastBlock;
    for (int64_t row = 0; row < rows; ++row) {
        const uint64_t position = static_cast<uint64_t>(lengths[row]) + added;
        const uint64_t column = division.Column(position);
        const int64_t entry = blocks[row * stride + static_cast<int64_t>(column)];
        const uint64_t block = static_cast<uint64_t>(entry);
        signs |= block | (lastBlock - block);
        slots[row] =
            static_cast<Slot>(static_cast<int64_t>(division.Slot(block, column, position)));
    }
    return !Negative(signs);
}

// Computes the slots. Returns false if a row may be bad; then slots may be missing. The first
// parameter of the template is for other instruction sets.
template <bool, typename Division, typename Length, typename Slot, typename Table>
bool PlaceChecked(const Division division, const Length* __restrict lengths, uint64_t added,
                  uint64_t lastPosition, const Table* __restrict blocks, int64_t stride,
                  uint64_t lastBlock, Slot* __restrict slots, int64_t rows) {
    return AllInside(lengths, added, lastPosition, rows) &&
           PlaceInside(division, lengths, added, blocks, stride, lastBlock, slots, rows);
}

// Moves rows that have been checked.
template <typename Division, typename Length, typename Slot, typename Table>
void PlaceAndMove(const Division division, const Table* __restrict blocks, int64_t stride,
                  const int64_t* __restrict sampled, int64_t* __restrict tokens,
                  int64_t* __restrict positions, Length* __restrict lengths, Slot* __restrict slots,
                  int64_t rows) {
    for (int64_t row = 0; row < rows; ++row) {
        const uint64_t position = static_cast<uint64_t>(lengths[row]);
        const uint64_t column = division.Column(position);
        const int64_t entry = blocks[row * stride + static_cast<int64_t>(column)];
        const uint64_t block = static_cast<uint64_t>(entry);
        slots[row] =
            static_cast<Slot>(static_cast<int64_t>(division.Slot(block, column, position)));
    }
    for (int64_t row = 0; row < rows; ++row) {
        const Length position = lengths[row];
        tokens[row] = sampled[row];
        positions[row] = position;
        lengths[row] = static_cast<Length>(position + 1);
    }
}

}  // namespace
}  // namespace ADVSTEP_ISA
}  // namespace advstep
