// SPDX-License-Identifier: Apache-2.0
// The loops of AdvanceStepV2 that take a vector of queries at once. They are for the usual form:
// the rows of a query feed consecutive positions, in at most two blocks. Everything else is left to
// the code for one query after the other (advance_step_v2_queries.h).

#pragma once

#include <cstdint>

#include "op_kernel/advance_step/advance_step_v2_tiling_data.h"
#include "op_kernel/common/isa.h"

namespace advstep {

/// The loops for one element type of the block tables. Slots and rows are counted from those of
/// query 0.
struct AdvanceStepV2Lanes {
    static constexpr int64_t kMostRows = 8;  // of a query

    int64_t queries;  // the number that is taken at a time

    /// Computes the slots of the queries from `begin` on, `queries` at a time. It stops at a group
    /// of which one is not of the usual form or may be bad, writes none of the group's slots, and
    /// returns the first of the group. Otherwise it returns the first of the rest, which is less
    /// than a group.
    int64_t (*place)(const AdvanceStepV2Tiling& t, const AdvanceStepV2Args& a, int64_t begin,
                     int64_t end, int64_t* slots);

    /// Moves queries that have passed the check, of any form, `queries` at a time. Returns the
    /// first of the rest.
    int64_t (*advance)(const AdvanceStepV2Tiling& t, const AdvanceStepV2Args& a, int64_t begin,
                       int64_t end, const int64_t* slots);
};

/// [int32 tables]
using AdvanceStepV2LanesTable = AdvanceStepV2Lanes[2];

#if defined(__x86_64__)
namespace avx2 {
extern const AdvanceStepV2LanesTable kV2Lanes;
}
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
    if (!usual || isa == Isa::kBaseline) {
        return nullptr;
    }
    return isa == Isa::kAvx512 ? &avx512::kV2Lanes[tables32] : &avx2::kV2Lanes[tables32];
#else
    return nullptr;
#endif
}

}  // namespace advstep
