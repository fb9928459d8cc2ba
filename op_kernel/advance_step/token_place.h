// SPDX-License-Identifier: Apache-2.0
// The place of one token of a sequence, which all AdvanceStep operators compute for a live row.

#pragma once

#include <cstdint>
#include <limits>

#include "op_kernel/advance_step/advance_step_tiling_data.h"
#include "op_kernel/common/kernel.h"
#include "op_kernel/common/slot.h"

namespace advstep {

template <typename Integer>
constexpr bool Fits(int64_t value) {
    return value >= std::numeric_limits<Integer>::min() &&
           value <= std::numeric_limits<Integer>::max();
}

/// Arithmetic in 64 bits. Lengths and slots must fit the element types of their tensors.
template <typename Length, typename Slot>
struct CheckedArithmetic {
    static constexpr AdvanceStepFault kBadLength = AdvanceStepFault::kLengthTooLarge;
    static constexpr AdvanceStepFault kBadSlot = AdvanceStepFault::kSlotTooLarge;

    static int64_t BlockOf(int64_t entry) { return entry; }
    static bool LengthAfter(int64_t position, int64_t* length) {
        if (position >= std::numeric_limits<Length>::max()) {
            return false;
        }
        *length = position + 1;
        return true;
    }
    static bool SlotOf(int64_t block, int64_t blockSize, int64_t offset, int64_t* slot) {
        return SlotIn(block, blockSize, offset, slot) && Fits<Slot>(*slot);
    }
};

/// The place of a row's token, set up to the first fault.
struct TokenPlace {
    int64_t position = 0;
    int64_t column = 0;
    int64_t block = 0;
    int64_t length = 0;  // of the sequence with the token
    int64_t slot = 0;
};

/// Finds the place of the token at place->position in the sequence whose block table is `blocks`.
/// Returns its first fault, or kNone.
template <typename Arithmetic, typename Table>
AdvanceStepFault PlaceToken(const Table* blocks, int64_t maxBlocks, int64_t blockSize,
                            TokenPlace* place) {
    const int64_t position = place->position;
    if (position < 0) {
        return AdvanceStepFault::kNegativePosition;
    }
    place->column = position / blockSize;
    if (place->column >= maxBlocks) {
        return AdvanceStepFault::kColumnOutside;
    }
    place->block = Arithmetic::BlockOf(blocks[place->column]);
    if (place->block < 0) {
        return AdvanceStepFault::kNegativeBlock;
    }
    if (!Arithmetic::LengthAfter(position, &place->length)) {
        return Arithmetic::kBadLength;
    }
    if (!Arithmetic::SlotOf(place->block, blockSize, position % blockSize, &place->slot)) {
        return Arithmetic::kBadSlot;
    }
    return AdvanceStepFault::kNone;
}

/// Reports a fault of a place with the values of its kind.
inline void ReportPlace(const CoreContext& core, int64_t row, AdvanceStepFault fault,
                        const TokenPlace& place) {
    if (fault != AdvanceStepFault::kNone) {
        core.Report(row, static_cast<int32_t>(fault), {place.position, place.column, place.block});
    }
}

}  // namespace advstep
