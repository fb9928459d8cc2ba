// The loops of the AdvanceStep kernels that take many rows at a time. They are compiled once per
// instruction set, and answer only whether all is well: the code for one row (token_place.h) then
// finds the row and the reason.
#pragma once

#include <cstdint>

#include "op_kernel/advance_step/advance_step_tiling_data.h"
#include "op_kernel/common/isa.h"

namespace advstep {

/// For one combination of element types. Tensors do not overlap. The rows are queries from `begin`
/// on; `slots`, of the slots' element type, has as many.
struct AdvanceStepLanes {
    /// Works out the slots of the tokens at positions seqLens[row] + added. False: one may be bad.
    /// If none is, all slots are right even so.
    bool (*place)(const AdvanceStepTiling& t, const AdvanceStepArgs& a, int64_t added,
                  int64_t begin, int64_t rows, void* slots);

    /// Writes what changes for rows whose slots are known; or, where they are not, works them out
    /// as it goes. Every row has passed the check.
    void (*advance)(const AdvanceStepArgs& a, int64_t begin, int64_t rows, const void* slots);
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
