// SPDX-License-Identifier: Apache-2.0
// Implements SEED: the five steps of Step one after the other, without data checks.

#include "tests/benchmark/seed_step.h"

#include <algorithm>

namespace {

void Push(SeedState& s, int64_t slot) {
    int32_t& depth = s.freeListLen[0];
    for (int64_t i = 0; i < s.usedListLen[slot]; ++i) {
        int32_t& block = s.blockTables[slot * s.tableWidth + s.encoderBlockLens[slot] + i];
        s.freeList[depth++] = block;
        block = -1;
    }
}

void ReleaseAndCollect(SeedState& s) {
    for (int64_t slot = 0; slot < s.batch; ++slot) {
        if (s.stopFlags[slot] != 0 && s.isBlockStep[slot] == 0) {
            s.firstTokenIds[slot] = -1;
            if (s.usedListLen[slot] > 0) {
                Push(s, slot);
                s.encoderBlockLens[slot] = 0;
                s.usedListLen[slot] = 0;
            }
        } else if (s.seqLensThisTime[slot] != 0 &&
                   s.blockTables[slot * s.tableWidth + s.seqLensDecoder[slot] / s.blockSize] ==
                       -1) {
            s.needBlockList[s.needBlockLen[0]++] = static_cast<int32_t>(slot);
        }
    }
}

// -1: there is no candidate.
int64_t FindVictim(const SeedState& s, int64_t exempt) {
    int64_t victim = -1;
    int32_t most = 0;
    for (int64_t slot = 0; slot < s.batch; ++slot) {
        if (s.isBlockStep[slot] == 0 && s.usedListLen[slot] != exempt &&
            s.usedListLen[slot] > most) {
            victim = slot;
            most = s.usedListLen[slot];
        }
    }
    return victim;
}

bool Preempt(SeedState& s) {
    int64_t exempt = s.inputWidth / s.blockSize;
    int64_t needed = s.needBlockLen[0];
    while (needed > s.freeListLen[0]) {
        const int64_t victim = FindVictim(s, exempt);
        if (victim < 0 && exempt < 0) {
            return false;
        }
        if (victim < 0) {
            exempt = -1;
            continue;
        }
        Push(s, victim);
        s.stepBlockList[s.stepLens[0]++] = static_cast<int32_t>(victim);
        for (int64_t k = 0; k < s.needBlockLen[0]; ++k) {
            if (s.needBlockList[k] == victim) {
                s.needBlockList[k] = -1;
                --needed;
                break;
            }
        }
        s.stopFlags[victim] = 1;
        s.isBlockStep[victim] = 1;
        s.seqLensThisTime[victim] = 0;
        s.seqLensDecoder[victim] = 0;
    }
    return true;
}

void Dispatch(SeedState& s) {
    for (int64_t k = 0; k < s.needBlockLen[0]; ++k) {
        const int64_t slot = s.needBlockList[k];
        if (slot != -1 && s.stopFlags[slot] == 0) {
            s.blockTables[slot * s.tableWidth + s.seqLensDecoder[slot] / s.blockSize] =
                s.freeList[--s.freeListLen[0]];
            ++s.usedListLen[slot];
        }
        s.needBlockList[k] = -1;
    }
}

void ChooseRecoveries(SeedState& s) {
    const int64_t columns = (s.inputWidth + s.blockSize - 1) / s.blockSize;
    int64_t budget = s.freeListLen[0];
    while (s.stepLens[0] > 0) {
        const int64_t slot = s.stepBlockList[s.stepLens[0] - 1];
        const int64_t used = s.usedListLen[slot];
        const int64_t grant =
            std::min(used + 1, std::max(used, columns - s.encoderBlockLens[slot]));
        if (budget < grant) {
            break;
        }
        s.recoverBlockList[s.recoverLens[0]++] = static_cast<int32_t>(slot);
        s.isBlockStep[slot] = 0;
        s.usedListLen[slot] = static_cast<int32_t>(grant);
        budget -= grant;
        s.stepBlockList[--s.stepLens[0]] = -1;
    }
    s.needBlockLen[0] = 0;
}

void Recover(SeedState& s) {
    for (int64_t k = 0; k < s.recoverLens[0]; ++k) {
        const int64_t slot = s.recoverBlockList[k];
        const int64_t prompt = s.oriSeqLensEncoder[slot];
        const int64_t total = prompt + s.stepIdx[slot];
        s.seqLensThisTime[slot] = s.seqLensEncoder[slot] = static_cast<int32_t>(total);
        s.stopFlags[slot] = 0;
        s.inputIds[slot * s.inputWidth + total - 1] = s.nextTokens[slot];
        s.inputIds[slot * s.inputWidth] = s.firstTokenIds[slot];
        for (int64_t i = 0; i < s.usedListLen[slot]; ++i) {
            s.blockTables[slot * s.tableWidth + s.encoderBlockLens[slot] + i] =
                s.freeList[--s.freeListLen[0]];
        }
        for (int64_t i = 0; i < s.stepIdx[slot] - 1; ++i) {
            s.inputIds[slot * s.inputWidth + prompt + i] = s.preIds[slot * s.preWidth + i + 1];
        }
    }
    s.recoverLens[0] = 0;
}

}  // namespace

bool RunSeedStep(SeedState& state) {
    ReleaseAndCollect(state);
    if (!Preempt(state)) {
        return false;
    }
    Dispatch(state);
    ChooseRecoveries(state);
    Recover(state);
    return true;
}
