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
    uint64_t seed;         // of the request
    int64_t endLen;        // cells of the finished sequence: its last token has none
    int64_t prefixTokens;  // of the prompt, which others may have, too
};

/// A live slot in a pass.
struct PassSlot {
    int32_t slot;
    int32_t prefillTokens;  // that go to the model in this pass; 0: none
    int32_t isPreempted;
};

/// The state of a live slot after Step.
struct SlotReport {
    int64_t token;  // sampled last
    int32_t cachedTokens;
    int32_t prefillTokens;  // that the slot wants
    int32_t dynamicBlocks;
    int32_t isPreempted;
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
    uint8_t* stopFlags;
    const uint8_t* isBlockStep;
    const int32_t* encoderBlockLens;
    const int32_t* usedListLen;
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
    const uint64_t* prefixSeeds;  // [slots, prefixWidth]
    int64_t prefixWidth;
    int32_t* heldTables;  // [slots, maxBlocks]: blockTables before the last Step, up to a -1

    // Live slots, [slots].
    const PassSlot* passSlots;
    SlotReport* reports;

    // Rows: AdvanceStep's tensors.
    const int32_t* rowSlots;
    int64_t* sampledTokenIds;
    int64_t* seqLens;
    int32_t* rowTables;  // [numSeqs, maxBlocks]
    const int64_t* inputTokens;
    const int64_t* inputPositions;
    const int64_t* slotMapping;
};

/// The arguments of every kernel of a pass. The work of each follows the live slots and their
/// tokens, however many slots there are.
struct PassArgs {
    ModelMemory memory;
    int64_t liveSlots;   // entries of passSlots
    int64_t numQueries;  // rows that decode
    int64_t numSeqs;     // rows, padding included
};

/// A sequence that enters a slot.
struct SlotLoad {
    int64_t slot;
    uint64_t seed;  // of the request
    int64_t endLen;
    int64_t promptTokens;
    int64_t firstToken;  // of its prompt, in LoadArgs::tokens
    int64_t promptBlocks;
    int64_t firstBlock;    // in LoadArgs::blocks
    int64_t cachedTokens;  // of the prompt: others have put them into the cache
    int64_t prefixTokens;
    int64_t prefixes;
    int64_t firstPrefix;  // in LoadArgs::prefixSeeds
};

/// Device addresses: what the host has uploaded of the sequences that enter slots, and the slots.
struct LoadArgs {
    const SlotLoad* loads;  // [count]
    int64_t count;
    const int64_t* tokens;
    const int32_t* blocks;
    const uint64_t* prefixSeeds;

    int64_t maxBlocks;
    int64_t inputWidth;
    int64_t prefixWidth;
    uint8_t* stopFlags;
    int32_t* seqLensThisTime;
    int32_t* oriSeqLensEncoder;
    int32_t* seqLensEncoder;
    int32_t* seqLensDecoder;
    int32_t* blockTables;  // [slots, maxBlocks]
    int32_t* encoderBlockLens;
    uint8_t* isBlockStep;
    int32_t* usedListLen;
    int64_t* inputIds;  // [slots, inputWidth]
    int64_t* stepIdx;
    int64_t* firstTokenIds;
    SlotInfo* infos;
    uint64_t* slotPrefixSeeds;  // [slots, prefixWidth]
};

/// Makes every slot of the loads want the prefill of its prompt.
void LoadSlotsKernel(void* loadArgs);

/// Writes K/V of the next prefillTokens of inputIds through the block table for every slot of the
/// pass that has some, and samples behind the last one that the slot wants.
void PrefillKernel(void* passArgs);

/// Gathers AdvanceStep's inputs for rows [0, numQueries) from their slots.
void GatherRowsKernel(void* passArgs);

/// Writes K/V of inputTokens at slotMapping and samples every query's next token. A sequence's last
/// token depends on all of its cells, and sets the slot's stop flag.
void DecodeKernel(void* passArgs);

/// Before Step runs: notes which blocks the live slots hold.
void NoteBlocksKernel(void* passArgs);

/// Right after Step: overwrites the blocks of slots that it found ended or preempted, so that
/// nothing left in them can be taken for a cell, whoever has them now. Blocks of prefixes stay,
/// since others may hold or find them.
void PoisonLostKernel(void* passArgs);

/// Collects what the host must know of the live slots after Step.
void ReportSlotsKernel(void* passArgs);

struct ReadCellsArgs {
    ModelMemory memory;
    int64_t slot;
    int64_t length;
    KvCell* out;  // [length], device
};

/// Collects the cells of a slot's positions [0, length) through the block table.
void ReadCellsKernel(void* readCellsArgs);

}  // namespace serve
