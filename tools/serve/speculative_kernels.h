// SPDX-License-Identifier: Apache-2.0
// The toy models of speculative decoding on the paged KV cache: kernels, as in model_kernels.h.

#pragma once

#include <cstdint>

#include "model_kernels.h"

namespace serve {

/// Device addresses; a query is a row of sampledTokenIds and has rowsPerQuery rows of the others.
struct SpeculativeMemory {
    const PassArgs* pass;  // the host's; it changes it only while nothing is pending
    int64_t rowsPerQuery;  // one more than spec tokens
    int64_t columns;       // of blockTables: for spec tokens behind the longest sequence too
    int32_t noBlock;       // and up, one for each query that lacks a block: behind the cache

    // Of the slots, from one pass to the next.
    int64_t* lastSampled;   // [slots, rowsPerQuery] -1 behind the last
    int64_t* lastAccepted;  // [slots]

    // AdvanceStepV2's tensors.
    const int64_t* inputTokens;
    int64_t* sampledTokenIds;
    int64_t* inputPositions;
    const int64_t* slotMapping;
    int32_t* blockTables;  // [numQueries, columns]
    int64_t* specToken;
    int64_t* acceptedNum;

    int64_t* passSampled;  // [numQueries, rowsPerQuery] lastSampled of the pass, by query
};

/// For every slot that PrefillKernel is about to prefill: its last pass samples one token, and
/// there was nothing to accept.
void NotePrefillKernel(void* speculativeMemory);

/// Gathers AdvanceStepV2's inputs for the queries from their slots. The draft model proposes the
/// spec tokens; it is wrong about one time in four.
void DraftKernel(void* speculativeMemory);

/// One pass of the model over all rows: writes K/V of inputTokens at slotMapping, samples behind
/// each row, and accepts the spec tokens that it would have chosen too, as far as their K/V have a
/// place. The
/// row behind a sequence's last token is never accepted: it has no K/V.
void VerifyKernel(void* speculativeMemory);

}  // namespace serve
