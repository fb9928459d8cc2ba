// SPDX-License-Identifier: Apache-2.0
// The loops of AdvanceStepV2 that take a vector of queries at once. They are for the usual form:
// the rows of a query feed consecutive positions, in at most two blocks. Everything else is left to
// the code for one query after the other (advance_step_v2_queries.h).

#pragma once

#include <cstdint>

#include "op_kernel/advance_step/advance_step_v2_kernel.h"
#include "op_kernel/common/isa.h"

namespace advstep {

/// The loops for queries of so many rows. Rows and what is kept are counted from those of query 0.
struct AdvanceStepV2Lanes {
    static constexpr int64_t kMostRows = 8;    // of a query
    static constexpr int64_t kKeptValues = 5;  // of a query
    /// In the place of the first value that is kept of a group: it is moved query by query.
    static constexpr int64_t kLeftOut = -1;

    int64_t queries;  // a group: the number that is taken at a time

    /// Checks the queries from `begin` on, a group at a time, and keeps of each group what advance
    /// needs. It stops at a group of which one is not of the usual form or may be bad, and returns
    /// the first query of the group; what it keeps of that group and of later ones is of no use.
    /// Otherwise it returns the first of the rest, which is less than a group.
    int64_t (*place)(const AdvanceStepV2Tiling& t, const AdvanceStepV2Args& a, bool tables32,
                     int64_t begin, int64_t end, int64_t* kept);

    /// Moves the queries of groups that were kept. It stops at one that is left out, as place does.
    int64_t (*advance)(const AdvanceStepV2Args& a, int64_t begin, int64_t end, const int64_t* kept);
};

#if defined(__x86_64__)
namespace avx2 {
extern const AdvanceStepV2Lanes kV2Lanes[AdvanceStepV2Lanes::kMostRows];  // [rows of a query - 1]
}
namespace avx512 {
extern const AdvanceStepV2Lanes kV2Lanes[AdvanceStepV2Lanes::kMostRows];
}
#endif

/// Returns the loops for launches of this shape, or null where there are none.
inline const AdvanceStepV2Lanes* V2LanesFor(Isa isa, const AdvanceStepV2Tiling& t) {
#if defined(__x86_64__)
    // Rows of a query lie in two blocks at most.
    const bool usual = t.rowsPerQuery <= AdvanceStepV2Lanes::kMostRows &&
                       t.rowsPerQuery <= t.blockSize && t.rowsPerQuery <= t.math.positions &&
                       t.math.lastBlock >= 0 && t.math.division != BlockDivision::kDivide;
    if (!usual || isa == Isa::kBaseline) {
        return nullptr;
    }
    return (isa == Isa::kAvx512 ? avx512::kV2Lanes : avx2::kV2Lanes) + (t.rowsPerQuery - 1);
#else
    return nullptr;
#endif
}

}  // namespace advstep
