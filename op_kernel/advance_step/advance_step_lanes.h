// SPDX-License-Identifier: Apache-2.0
// The loops of the AdvanceStep kernels that take many rows at a time. They are compiled once for
// each instruction set, and only find out whether all rows are good. If not, the code for one row
// (token_place.h) finds the row and the reason.

#pragma once

#include <cstdint>

#include "op_kernel/advance_step/advance_step_tiling_data.h"
#include "op_kernel/common/isa.h"

namespace advstep {

/// The loops for one combination of element types. Tensors do not overlap. The rows are queries
/// from `begin` on. `slots` has as many entries, of the element type of slotMapping.
struct AdvanceStepLanes {
    /// Computes the slots of the tokens at positions seqLens[row] + added. Returns false if a row
    /// may be bad. If no row is bad, all slots are right.
    bool (*place)(const AdvanceStepTiling& t, const AdvanceStepArgs& a, int64_t added,
                  int64_t begin, int64_t rows, void* slots);

    /// As place with nothing added and then, if it returns true, advance with its slots.
    bool (*placeThenAdvance)(const AdvanceStepTiling& t, const AdvanceStepArgs& a, int64_t begin,
                             int64_t rows, void* slots);

    /// Writes the rows, all of which have passed the check: with the slots that are given, or with
    /// slots that it computes.
    void (*advance)(const AdvanceStepTiling& t, const AdvanceStepArgs& a, int64_t begin,
                    int64_t rows, const void* slots);
    void (*placeAndAdvance)(const AdvanceStepTiling& t, const AdvanceStepArgs& a, int64_t begin,
                            int64_t rows);
};

/// [int32 lengths][int32 slots][int32 tables]
using AdvanceStepLanesTable = AdvanceStepLanes[2][2][2];

extern const AdvanceStepLanesTable* const kAdvanceStepLanes[];  // by Isa

inline const AdvanceStepLanes& LanesFor(Isa isa, bool lengths32, bool slots32, bool tables32) {
    return (*kAdvanceStepLanes[static_cast<int>(isa)])[lengths32][slots32][tables32];
}

}  // namespace advstep
