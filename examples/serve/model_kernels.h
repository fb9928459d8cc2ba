// The toy model on the paged KV cache, in the place of a model's attention and sampling kernels.
//
// On an NPU these would be kernels. The emulated device is this CPU and its memory can be reached
// from here, so they are host functions in the stream (aclrtLaunchHostFunc) that follow device
// addresses; nothing else in this program does.
#pragma once

#include <cstdint>

#include "toy_model.h"

namespace serve {

/// What the model knows of a row besides AdvanceStep's tensors.
struct RowInfo {
    uint64_t seed;        // of the request
    int64_t endLen;       // tokens of the finished sequence
    int64_t promptBegin;  // of the row's prompt within promptTokens; only valid for the prefill
};

/// Device addresses.
struct ModelMemory {
    KvCell* cache;  // [slots]
    int64_t slots;
    int64_t blockSize;
    int64_t maxBlocks;
    const int32_t* blockTables;     // [numSeqs, maxBlocks]
    const int64_t* inputTokens;     // [numSeqs]
    const int64_t* inputPositions;  // [numSeqs]
    const int64_t* seqLens;         // [numSeqs]
    const int64_t* slotMapping;     // [numSeqs]
    int64_t* sampledTokenIds;       // [numSeqs]
    const RowInfo* rows;            // [numSeqs]
    const int64_t* promptTokens;    // prompts of one prefill, one after another
};

struct PrefillArgs {
    ModelMemory memory;
    int64_t firstRow;
    int64_t rowCount;
};

/// Writes K/V of whole prompts through the block table and samples every row's first token.
void PrefillKernel(void* prefillArgs);

struct DecodeArgs {
    ModelMemory memory;
    int64_t numSeqs;
    int64_t numQueries;
};

/// Writes K/V of inputTokens at slotMapping and samples every query's next token. The token after a
/// sequence's last one, the closing token, depends on all of its cells.
void DecodeKernel(void* decodeArgs);

struct GatherArgs {
    ModelMemory memory;
    int64_t row;
    int64_t length;
    KvCell* out;  // [length], device
};

/// Collects the cells of a row's positions [0, length) through the block table.
void GatherKernel(void* gatherArgs);

}  // namespace serve
