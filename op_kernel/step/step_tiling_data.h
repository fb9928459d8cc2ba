// SPDX-License-Identifier: Apache-2.0
// The tiling, addresses, workspace and payload of Step.

#pragma once

#include <cstdint>

namespace advstep {

/// Slots with numbers of this size or larger are left to the code for one slot: below it the sum of
/// 64 lengths, and 64 rows of as many columns, fit 32 bits.
inline constexpr int64_t kMostScanned = int64_t{1} << 25;

/// A step that moves at most so many bytes of block ids and tokens takes no longer than a sleeping
/// thread takes until it runs.
inline constexpr int64_t kBriefBytes = int64_t{256} << 10;

/// The distribution of one Step call over the cores: written by the host, read by every core.
struct StepTiling {
    int32_t coreCount;     // cores with slots
    int32_t exact;         // conformance exact: the limit of recovery is the source's
    int64_t slotsPerCore;  // a multiple of 64; the last core may have fewer
    int64_t batch;         // B: slots that take part
    int64_t tableWidth;    // W: columns of blockTables
    int64_t freeCapacity;  // F: entries of freeList
    int64_t inputWidth;    // L: columns of inputIds
    int64_t preWidth;      // P: columns of preIds
    int64_t blockSize;     // tokens
    int32_t blockShift;    // its logarithm, at most 31; -1 if it is no power of two
    int32_t movesLittle;   // at most kBriefBytes, even if it recovers every slot
    double blockInverse;   // 1 / blockSize
};

/// Addresses in signature order. A BOOL is one byte, and any value but 0 is true.
struct StepArgs {
    uint8_t* stopFlags;
    int32_t* seqLensThisTime;
    const int32_t* oriSeqLensEncoder;
    int32_t* seqLensEncoder;
    int32_t* seqLensDecoder;
    int32_t* blockTables;
    int32_t* encoderBlockLens;
    uint8_t* isBlockStep;
    int32_t* stepBlockList;
    int32_t* stepLens;
    int32_t* recoverBlockList;
    int32_t* recoverLens;
    int32_t* needBlockList;
    int32_t* needBlockLen;
    int32_t* usedListLen;
    int32_t* freeList;
    int32_t* freeListLen;
    int64_t* inputIds;
    const int64_t* preIds;
    const int64_t* stepIdx;
    const int64_t* nextTokens;
    int64_t* firstTokenIds;
};

/// Sums over the slots of one core. StepDecide turns two of them into places, where the part of the
/// core begins.
struct StepCoreCounts {
    int64_t released;    // blocks; then the place of the first in freeList
    int64_t inUse;       // dynamic blocks of slots that are not preempted
    int64_t needs;       // entries of the need list
    int64_t dispatched;  // entries that are served; then the rank of the first
    int64_t releasing;   // slots that give blocks back
};

/// A preempted slot, and the place of its first block in freeList.
struct StepVictim {
    int32_t slot;
    int64_t freeAt;
};

/// A recovered slot, the number of its blocks, and the number of blocks of freeList taken before
/// them.
struct StepRecovery {
    int32_t slot;
    int32_t grant;
    int64_t takenBefore;
};

/// The plan, which core 0 makes before the first write to a tensor.
struct StepPlan {
    int64_t freeBefore;      // freeListLen on entry
    int64_t freeAtDispatch;  // after release and preemption
    int64_t freeAfter;
    int64_t needEntries;
    int64_t victims;
    int64_t dispatched;
    int64_t stackBefore;  // stepLens on entry
    int64_t stackTop;     // after preemption
    int64_t recoveries;
    int64_t releasing;  // slots that give blocks back
};

/// The byte offsets of the arrays of one call in its workspace. A set has a bit for each slot. The
/// 64 slots of a word belong to one core.
struct StepWorkspaceOffsets {
    int64_t plan;            // StepPlan [1]
    int64_t counts;          // StepCoreCounts [coreCount]
    int64_t releases;        // set of slots: give their blocks back
    int64_t needs;           // set: on the need list
    int64_t served;          // set: on the need list, and get a block
    int64_t waiting;         // set: wait for recovery since an earlier call
    int64_t nextCandidate;   // int32 [B], see VictimQueue
    int64_t firstCandidate;  // int32 [W + 2]
    int64_t victims;         // StepVictim [B]
    int64_t recoveries;      // StepRecovery [B]
};

struct StepPayload {
    StepTiling tiling;
    StepArgs args;
    StepWorkspaceOffsets offsets;
    uint8_t* workspace;  // aligned
};

}  // namespace advstep
