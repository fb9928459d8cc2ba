// SPDX-License-Identifier: Apache-2.0
// The loops of AdvanceStepV2 that take eight queries at once. They are for the usual form: the rows
// of a query feed consecutive positions, in at most two blocks. Everything else is left to the code
// for one query after the other (advance_step_v2_queries.h).

#pragma once

#include <cstdint>

#include "op_kernel/advance_step/advance_step_v2_tiling_data.h"
#include "op_kernel/common/isa.h"

namespace advstep {

/// The loops for one element type of the block tables. Slots and rows are counted from those of
/// query 0.
struct AdvanceStepV2Lanes {
    static constexpr int64_t kMostRows = 8;  // of a query
    static constexpr int64_t kQueries = 8;   // at a time

    /// Computes the slots of the queries from `begin` on, eight at a time. Returns the first of
    /// eight of which one has not the usual form or may be bad; no slot of theirs has been written.
    /// Without such ones it returns the first of the rest, which is fewer than eight.
    int64_t (*place)(const AdvanceStepV2Tiling& t, const AdvanceStepV2Args& a, int64_t begin,
                     int64_t end, int64_t* slots);

    /// Moves queries that have passed the check, of any form, eight at a time. Returns the first of
    /// the rest.
    int64_t (*advance)(const AdvanceStepV2Tiling& t, const AdvanceStepV2Args& a, int64_t begin,
                       int64_t end, const int64_t* slots);
};

/// [int32 tables]
using AdvanceStepV2LanesTable = AdvanceStepV2Lanes[2];

#if defined(__x86_64__)
namespace avx512 {
extern const AdvanceStepV2LanesTable kV2Lanes;
}
#endif

/// Returns the loops for launches of this shape, or null where there are none.
inline const AdvanceStepV2Lanes* V2LanesFor(Isa isa, const AdvanceStepV2Tiling& t, bool tables32) {
#if defined(__x86_64__)
    // Rows of a query lie in two blocks at most.
    const bool usual = t.rowsPerQuery <= AdvanceStepV2Lanes::kMostRows &&
                       t.rowsPerQuery <= t.blockSize && t.rowsPerQuery <= t.math.positions &&
                       t.math.lastBlock >= 0 && t.math.division != BlockDivision::kDivide;
    return usual && isa == Isa::kAvx512 ? &avx512::kV2Lanes[tables32 ? 1 : 0] : nullptr;
#else
    return nullptr;
#endif
}

}  // namespace advstep
