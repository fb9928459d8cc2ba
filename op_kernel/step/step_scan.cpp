// SPDX-License-Identifier: Apache-2.0
// Implements the look at 64 ordinary slots at a time, without a branch per slot.

#include "op_kernel/step/step_scan.h"

#include "op_kernel/step/step_bits.h"

namespace advstep {
namespace {

// 1 << i as a table, since vectors of the baseline cannot compute it.
constexpr struct Bits {
    uint32_t of[32];
    constexpr Bits() : of() {
        for (int i = 0; i < 32; ++i) {
            of[i] = 1U << i;
        }
    }
} kBits;

// The compiler vectorises these loops: their pointers are __restrict parameters, their count is
// fixed, and they only collect conditions with |.

// Sets `places`, the index of each slot's next block counted from the first row, and `used`, the
// sum of `usedLens`. Returns whether all columns lie in their rows. Slots that feed nothing are
// held to the same rules, which nearly all of them obey.
template <typename ColumnOf>
[[gnu::always_inline]] inline bool ScanLengths(const int32_t* __restrict decoder,
                                               const int32_t* __restrict usedLens,
                                               const int32_t* __restrict encoderBlocks,
                                               uint32_t width, int32_t* __restrict places,
                                               int64_t* used, ColumnOf columnOf) {
    uint32_t all = 0;
    uint32_t negative = 0;  // in its highest bit
    uint32_t sum = 0;
    uint32_t row = 0;
    for (int64_t i = 0; i < kSlotsPerWord; ++i) {
        const auto blocks = static_cast<uint32_t>(usedLens[i]);
        const auto first = static_cast<uint32_t>(encoderBlocks[i]);
        const auto column = static_cast<uint32_t>(columnOf(decoder[i]));
        sum += blocks;
        all |= blocks | first;
        negative |= width - (first + blocks);
        negative |= static_cast<uint32_t>(decoder[i]);
        negative |= width - 1 - column;
        places[i] = static_cast<int32_t>(row + column);
        row += width;
    }
    *used = sum;
    return static_cast<int32_t>(negative) >= 0 && all < kMostScanned;
}

// Returns the slots among 32 that feed tokens and have -1 in their place.
uint32_t Lacking(const int32_t* __restrict thisTime, const int32_t* __restrict table,
                 const int32_t* __restrict places) {
    uint32_t lacking = 0;
    for (int i = 0; i < 32; ++i) {
        const uint32_t idle = thisTime[i] == 0 ? ~0U : 0;
        const uint32_t none = table[places[i]] == -1 ? ~0U : 0;
        lacking |= none & ~idle & kBits.of[i];
    }
    return lacking;
}

}  // namespace

bool ScanWord(const StepTiling& tiling, const StepArgs& args, int64_t first, uint64_t* lacking,
              int64_t* used) {
    if (tiling.tableWidth >= kMostScanned) {
        return false;
    }
    alignas(16) int32_t places[kSlotsPerWord];
    const auto scan = [&](auto columnOf) {
        return ScanLengths(args.seqLensDecoder + first, args.usedListLen + first,
                           args.encoderBlockLens + first, static_cast<uint32_t>(tiling.tableWidth),
                           places, used, columnOf);
    };
    const int32_t shift = tiling.blockShift;
    const double inverse = tiling.blockInverse;
    const bool usual = shift >= 0 ? scan([shift](int32_t cached) { return cached >> shift; })
                                  // This is exact: the half keeps the product further from the
                                  // whole numbers than its rounding error.
                                  : scan([inverse](int32_t cached) {
                                        return static_cast<int32_t>((cached + 0.5) * inverse);
                                    });
    if (usual) {
        const int32_t* const table = args.blockTables + first * tiling.tableWidth;
        const int32_t* const thisTime = args.seqLensThisTime + first;
        *lacking = Lacking(thisTime, table, places) |
                   uint64_t{Lacking(thisTime + 32, table, places + 32)} << 32;
    }
    return usual;
}

}  // namespace advstep
