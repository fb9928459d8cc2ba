// SPDX-License-Identifier: Apache-2.0
// The toy model on the paged KV cache, in the place of a model's attention and sampling kernels.
//
// On an NPU these would be kernels. The emulated device is this CPU and its memory can be reached
// from here, so they are host functions in the stream (aclrtLaunchHostFunc) that follow device
// addresses; nothing else in this program does.

#pragma once

#include <cstdint>

#include "toy_model.h"

namespace serve {

inline constexpr int kPoison = 0xA5;  // repeated, a negative token at a negative position

/// What the model knows of a slot besides Step's tensors.
struct SlotInfo {
    uint64_t seed;   // of the request
    int64_t endLen;  // tokens of the finished sequence
};

/// Device addresses.
struct ModelMemory {
    // The KV cache.
    KvCell* cache;  // [cacheCells]
    int64_t cacheCells;
    int64_t blockSize;
    int64_t maxBlocks;

    // Slots: Step's tensors.
    int64_t slots;
    const uint8_t* stopFlags;
    int32_t* seqLensThisTime;
    int32_t* seqLensEncoder;
    int32_t* seqLensDecoder;
    const int32_t* slotTables;  // [slots, maxBlocks]
    const int64_t* inputIds;    // [slots, inputWidth]
    int64_t inputWidth;
    int64_t* preIds;  // [slots, preWidth]
    int64_t preWidth;
    int64_t* stepIdx;
    int64_t* nextTokens;
    const SlotInfo* infos;
    int32_t* heldTables;  // [slots, maxBlocks]: blockTables before the last Step

    // Rows: AdvanceStep's tensors.
    int64_t numSeqs;
    const int32_t* rowSlots;
    int64_t* sampledTokenIds;
    int64_t* seqLens;
    int32_t* rowTables;  // [numSeqs, maxBlocks]
    const int64_t* inputTokens;
    const int64_t* inputPositions;
    const int64_t* slotMapping;
};

/// Writes K/V of inputIds through the block table for every slot that wants a prefill, admitted or
/// recovered, and samples its next token.
void PrefillKernel(void* modelMemory);

struct RowArgs {
    ModelMemory memory;
    int64_t numQueries;
};

/// Gathers AdvanceStep's inputs for rows [0, numQueries) from their slots.
void GatherRowsKernel(void* rowArgs);

/// Writes K/V of inputTokens at slotMapping and samples every query's next token. The token after a
/// sequence's last one, the closing token, depends on all of its cells.
void DecodeKernel(void* rowArgs);

/// Before sequences are stopped and Step runs: notes which blocks the running slots hold.
void NoteBlocksKernel(void* modelMemory);

/// Right after Step: overwrites the blocks of slots that it found ended or preempted, so that
/// nothing left in them can be taken for a cell, whoever has them now.
void PoisonLostKernel(void* modelMemory);

struct ReadCellsArgs {
    ModelMemory memory;
    int64_t slot;
    int64_t length;
    KvCell* out;  // [length], device
};

/// Collects the cells of a slot's positions [0, length) through the block table.
void ReadCellsKernel(void* readCellsArgs);

}  // namespace serve
