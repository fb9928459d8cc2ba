// SPDX-License-Identifier: Apache-2.0
// The report of a rank that has served its requests.

#pragma once

#include <cstdint>

#include "run_summary.h"

namespace serve {

struct RankCost {
    double digestSeconds = 0;      // hashing the tensors
    double collectiveSeconds = 0;  // comparing digests in the group, waiting for others included
    double dispatchSeconds = 0;    // waiting for requests
    int64_t digestBytes = 0;       // read in all steps together
    int64_t steps = 0;             // whose digests were compared
};

/// Everything in it is plain data: it is sent as bytes.
struct RankState {
    Statistics statistics;
    RankCost cost;
    uint64_t digest = 0;  // of all steps
};

}  // namespace serve
