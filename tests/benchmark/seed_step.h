// SPDX-License-Identifier: Apache-2.0
// SEED, what Step is measured against: the five steps of docs/operators/step.md one after the other
// on plain vectors, a search over the batch for every victim; no data checks, no device.

#pragma once

#include <cstdint>
#include <vector>

/// The 22 tensors and the dimensions; S = B. BOOL is one byte.
struct SeedState {
    int64_t batch = 0;       // B
    int64_t tableWidth = 0;  // W
    int64_t inputWidth = 0;  // L
    int64_t preWidth = 0;    // P
    int64_t blockSize = 1;   // tokens

    std::vector<uint8_t> stopFlags;
    std::vector<int32_t> seqLensThisTime, oriSeqLensEncoder, seqLensEncoder, seqLensDecoder,
        blockTables, encoderBlockLens;
    std::vector<uint8_t> isBlockStep;
    std::vector<int32_t> stepBlockList, stepLens, recoverBlockList, recoverLens, needBlockList,
        needBlockLen, usedListLen, freeList, freeListLen;
    std::vector<int64_t> inputIds, preIds, stepIdx, nextTokens, firstTokenIds;
};

/// One call, conformance standard. False: no progress, the source would never return.
bool RunSeedStep(SeedState& state);
