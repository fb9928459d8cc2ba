// SPDX-License-Identifier: Apache-2.0
// The loop of Step over ordinary slots, compiled once for each instruction set that has vectors of
// eight or more. Unusual slots, and machines without such vectors, are left to step_collect.cpp.

#pragma once

#include <cstdint>

#include "op_kernel/common/isa.h"
#include "op_kernel/step/step_tiling_data.h"

namespace advstep {

/// The sets of slots that the first phase makes, a bit for each slot of the batch.
struct StepSets {
    uint64_t* releases;  // give their blocks back
    uint64_t* needs;     // are on the need list
    uint64_t* served;    // are on it, and get a block
};

struct StepLanes {
    /// Looks at the slots from `begin`, a multiple of 64, to `end`, 64 at a time. Sets their words
    /// and adds to *counts. It stops before 64 slots of which one is unusual (bad data, or columns
    /// that do not matter in the state of the slot), and before the rest, which is less than 64.
    /// Returns the first slot that it has not looked at.
    int64_t (*collect)(const StepTiling& t, const StepArgs& a, int64_t begin, int64_t end,
                       const StepSets& sets, StepCoreCounts* counts);
};

#if defined(__x86_64__)
namespace avx2 {
extern const StepLanes kStepLanes;
}
namespace avx512 {
extern const StepLanes kStepLanes;
}
#endif

/// Returns the loop for launches of this shape, or null where there is none.
inline const StepLanes* StepLanesFor(Isa isa, const StepTiling& t) {
#if defined(__x86_64__)
    if (isa == Isa::kBaseline || t.blockShift < 0 || t.tableWidth >= kMostScanned) {
        return nullptr;
    }
    return isa == Isa::kAvx512 ? &avx512::kStepLanes : &avx2::kStepLanes;
#else
    return nullptr;
#endif
}

}  // namespace advstep
