// The loops of the AdvanceStep kernels that take many rows at a time. They are compiled once per
// instruction set, and answer only whether all is well: the code for one row (token_place.h) then
// finds the row and the reason.
#pragma once

#include <cstdint>

#include "op_kernel/common/block_math.h"
#include "op_kernel/common/isa.h"

namespace advstep {

/// The block table, from the row of the first token on, and how positions map to it.
struct TableRows {
    const void* blocks;
    int64_t stride;  // elements from one row to the next
    BlockMath math;
};

/// For one combination of element types. Arrays do not overlap.
struct AdvanceStepLanes {
    /// The slots of `rows` tokens at positions lengths[row] + added. False: one may be bad. If none
    /// is, all slots are right even so.
    bool (*place)(const TableRows& table, const void* lengths, int64_t added, void* slots,
                  int64_t rows);

    /// Writes what changes for `rows` queries, whose slots are known.
    void (*advance)(const int64_t* sampled, const void* slots, int64_t* tokens, int64_t* positions,
                    void* lengths, void* slotMapping, int64_t rows);
};

/// Whether the loops fetch what they are about to need: for launches beyond the caches.
enum class Fetch : int32_t { kOnUse, kAhead };

const AdvanceStepLanes& LanesFor(Isa isa, Fetch fetch, bool lengths32, bool slots32, bool tables32);

}  // namespace advstep
