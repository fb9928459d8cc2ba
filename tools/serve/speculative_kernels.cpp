// SPDX-License-Identifier: Apache-2.0
// Implements the draft model's proposals and the target model's verification.

#include "speculative_kernels.h"

#include <algorithm>

#include "sampling.h"

namespace serve {
namespace {

constexpr int64_t kNoToken = -1;

// What the draft model thinks comes after the slot's newest token.
void Propose(const ModelMemory& m, int64_t slot, int64_t count, int64_t* proposed) {
    const PagedSequence sequence = PagedSequence::OfSlot(m, slot);
    const uint64_t seed = m.infos[slot].seed;
    const int64_t cached = m.seqLensDecoder[slot];
    // The newest token and those proposed before are not in the cache.
    const auto tokenAt = [&](int64_t position) {
        return position == cached ? m.nextTokens[slot] : proposed[position - cached - 1];
    };
    for (int64_t i = 0; i < count; ++i) {
        const int64_t length = cached + 1 + i;
        const int64_t token = NextToken(length, [&](int64_t position) {
            return position < cached ? sequence.CellAt(position)
                                     : CellOf(seed, tokenAt(position), position);
        });
        const bool wrong = Mix(seed ^ Mix(static_cast<uint64_t>(length))) % 4 == 0;
        proposed[i] = wrong ? (token + 1) % kVocabulary : token;
    }
}

bool HasPlace(const ModelMemory& m, int64_t cell) { return cell < m.cacheCells; }

// Returns how many spec tokens are accepted; samples go to `sampled`.
int64_t Accept(const SpeculativeMemory& s, int64_t slot, int64_t first, int64_t* sampled) {
    const ModelMemory& m = s.pass->memory;
    const PagedSequence sequence = PagedSequence::OfSlot(m, slot);
    const int64_t endLen = m.infos[slot].endLen;
    for (int64_t index = 0;; ++index) {
        const int64_t length = s.inputPositions[first + index] + 1;
        sampled[index] = Sample(sequence, length, endLen);
        TakeSample(m, slot, static_cast<int32_t>(length), sampled[index]);
        const int64_t next = index + 1;
        const bool accepted = next < s.rowsPerQuery && length < endLen &&
                              HasPlace(m, s.slotMapping[first + next]) &&
                              s.inputTokens[first + next] == sampled[index];
        if (!accepted) {
            return index;
        }
    }
}

}  // namespace

void NotePrefillKernel(void* speculativeMemory) {
    const auto& s = *static_cast<const SpeculativeMemory*>(speculativeMemory);
    const ModelMemory& m = s.pass->memory;
    for (int64_t i = 0; i < s.pass->liveSlots; ++i) {
        const int64_t slot = m.passSlots[i].slot;
        if (m.passSlots[i].prefillTokens > 0) {
            std::fill_n(s.lastSampled + slot * s.rowsPerQuery, s.rowsPerQuery, kNoToken);
            s.lastAccepted[slot] = 0;
        }
    }
}

void DraftKernel(void* speculativeMemory) {
    const auto& s = *static_cast<const SpeculativeMemory*>(speculativeMemory);
    const ModelMemory& m = s.pass->memory;
    const int64_t specTokens = s.rowsPerQuery - 1;
    for (int64_t query = 0; query < s.pass->numQueries; ++query) {
        const int64_t slot = m.rowSlots[query];
        const int64_t accepted = s.lastAccepted[slot];
        int64_t* const sampled = s.sampledTokenIds + query * s.rowsPerQuery;
        std::copy_n(s.lastSampled + slot * s.rowsPerQuery, s.rowsPerQuery, sampled);
        sampled[accepted] = m.nextTokens[slot];  // after a prefill there is nothing else
        s.acceptedNum[query] = accepted;
        for (int64_t index = 0; index < s.rowsPerQuery; ++index) {
            s.inputPositions[query * s.rowsPerQuery + index] =
                m.seqLensDecoder[slot] - accepted - 1 + index;
        }
        // The columns of the newest token and of the spec tokens, and those before.
        int32_t* const table = s.blockTables + query * s.columns;
        const int32_t* const slotTable = m.slotTables + slot * m.maxBlocks;
        const int64_t columns = (m.seqLensDecoder[slot] + s.rowsPerQuery - 1) / m.blockSize + 1;
        const int64_t copied = std::min(columns, m.maxBlocks);
        const auto noBlock = static_cast<int32_t>(s.noBlock + query);
        std::replace_copy(slotTable, slotTable + copied, table, int32_t{-1}, noBlock);
        std::fill(table + copied, table + columns, noBlock);
        Propose(m, slot, specTokens, s.specToken + query * specTokens);
    }
}

void VerifyKernel(void* speculativeMemory) {
    const auto& s = *static_cast<const SpeculativeMemory*>(speculativeMemory);
    const ModelMemory& m = s.pass->memory;
    for (int64_t query = 0; query < s.pass->numQueries; ++query) {
        const int64_t slot = m.rowSlots[query];
        const int64_t first = query * s.rowsPerQuery;
        for (int64_t row = first; row < first + s.rowsPerQuery; ++row) {
            if (HasPlace(m, s.slotMapping[row])) {
                m.cache[s.slotMapping[row]] =
                    CellOf(m.infos[slot].seed, s.inputTokens[row], s.inputPositions[row]);
            }
        }
        int64_t* const sampled = s.lastSampled + slot * s.rowsPerQuery;
        std::fill_n(sampled, s.rowsPerQuery, kNoToken);
        s.lastAccepted[slot] = Accept(s, slot, first, sampled);
        std::copy_n(sampled, s.rowsPerQuery, s.passSampled + first);
    }
}

}  // namespace serve
