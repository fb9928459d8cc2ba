// SPDX-License-Identifier: Apache-2.0
// Implements the kernels of the toy model: prefill, decode, bookkeeping and reading of cells.

#include "model_kernels.h"

#include <algorithm>
#include <cstring>

#include "sampling.h"

namespace serve {
namespace {

// The part of a slot's table in which its cached tokens and the next one have their blocks.
int64_t ColumnsFor(const ModelMemory& m, int64_t tokens) {
    return std::min(m.maxBlocks, (tokens + m.blockSize - 1) / m.blockSize);
}

void CopyColumns(const ModelMemory& m, int32_t* dst, const int32_t* src, int64_t columns) {
    std::copy_n(src, columns, dst);
    if (columns < m.maxBlocks) {
        dst[columns] = -1;
    }
}

}  // namespace

void LoadSlotsKernel(void* loadArgs) {
    const auto& args = *static_cast<const LoadArgs*>(loadArgs);
    for (int64_t i = 0; i < args.count; ++i) {
        const SlotLoad& load = args.loads[i];
        const int64_t slot = load.slot;
        const auto promptTokens = static_cast<int32_t>(load.promptTokens);
        std::copy_n(args.tokens + load.firstToken, load.promptTokens,
                    args.inputIds + slot * args.inputWidth);
        // -1 where the sequence has no block yet.
        int32_t* table = args.blockTables + slot * args.maxBlocks;
        std::fill(std::copy_n(args.blocks + load.firstBlock, load.promptBlocks, table),
                  table + args.maxBlocks, -1);
        args.firstTokenIds[slot] = args.tokens[load.firstToken];
        args.encoderBlockLens[slot] = static_cast<int32_t>(load.promptBlocks);
        args.usedListLen[slot] = 0;
        args.oriSeqLensEncoder[slot] = promptTokens;
        const auto cachedTokens = static_cast<int32_t>(load.cachedTokens);
        args.seqLensEncoder[slot] = promptTokens - cachedTokens;
        args.seqLensThisTime[slot] = promptTokens - cachedTokens;
        args.seqLensDecoder[slot] = cachedTokens;
        args.stepIdx[slot] = 0;
        args.infos[slot] = {load.seed, load.endLen, load.prefixTokens};
        std::copy_n(args.prefixSeeds + load.firstPrefix, load.prefixes,
                    args.slotPrefixSeeds + slot * args.prefixWidth);
        args.isBlockStep[slot] = 0;
        args.stopFlags[slot] = 0;
    }
}

void PrefillKernel(void* passArgs) {
    const auto& args = *static_cast<const PassArgs*>(passArgs);
    const ModelMemory& m = args.memory;
    for (int64_t i = 0; i < args.liveSlots; ++i) {
        const int64_t slot = m.passSlots[i].slot;
        const int32_t count = m.passSlots[i].prefillTokens;
        if (count == 0) {
            continue;
        }
        const PagedSequence sequence = PagedSequence::OfSlot(m, slot);
        const SlotInfo& info = m.infos[slot];
        const int64_t* tokens = m.inputIds + slot * m.inputWidth;
        const int32_t end = m.seqLensDecoder[slot] + count;
        const TextSeeds seeds{info.seed, info.prefixTokens, m.prefixSeeds + slot * m.prefixWidth};
        sequence.ForEach(m.seqLensDecoder[slot], end, [&](int64_t position, KvCell& cell) {
            cell = CellOf(seeds.At(position), tokens[position], position);
        });
        if (m.seqLensEncoder[slot] > count) {
            m.seqLensEncoder[slot] -= count;
            m.seqLensDecoder[slot] = end;
        } else {
            TakeSample(m, slot, end, Sample(sequence, end, info.endLen));
        }
    }
}

void GatherRowsKernel(void* passArgs) {
    const auto& args = *static_cast<const PassArgs*>(passArgs);
    const ModelMemory& m = args.memory;
    for (int64_t row = 0; row < args.numQueries; ++row) {
        const int64_t slot = m.rowSlots[row];
        m.sampledTokenIds[row] = m.nextTokens[slot];
        m.seqLens[row] = m.seqLensDecoder[slot];
        CopyColumns(m, m.rowTables + row * m.maxBlocks, m.slotTables + slot * m.maxBlocks,
                    ColumnsFor(m, m.seqLensDecoder[slot] + 1));
    }
}

void DecodeKernel(void* passArgs) {
    const auto& args = *static_cast<const PassArgs*>(passArgs);
    const ModelMemory& m = args.memory;
    // As a captured graph would, this writes every row that has a slot mapping, padding or not: a
    // padding row that AdvanceStep left with one would damage the cache and be found.
    for (int64_t row = 0; row < args.numSeqs; ++row) {
        const int64_t cell = m.slotMapping[row];
        if (cell >= 0 && cell < m.cacheCells) {
            m.cache[cell] =
                CellOf(m.infos[m.rowSlots[row]].seed, m.inputTokens[row], m.inputPositions[row]);
        }
    }
    for (int64_t row = 0; row < args.numQueries; ++row) {
        const int64_t slot = m.rowSlots[row];
        const PagedSequence sequence(m, m.rowTables + row * m.maxBlocks);
        TakeSample(m, slot, m.seqLensDecoder[slot] + 1,
                   Sample(sequence, m.seqLens[row], m.infos[slot].endLen));
    }
}

void NoteBlocksKernel(void* passArgs) {
    const auto& args = *static_cast<const PassArgs*>(passArgs);
    const ModelMemory& m = args.memory;
    for (int64_t i = 0; i < args.liveSlots; ++i) {
        const int64_t slot = m.passSlots[i].slot;
        if (m.passSlots[i].isPreempted == 0) {
            CopyColumns(
                m, m.heldTables + slot * m.maxBlocks, m.slotTables + slot * m.maxBlocks,
                std::min<int64_t>(m.maxBlocks, m.encoderBlockLens[slot] + m.usedListLen[slot]));
        }
    }
}

void PoisonLostKernel(void* passArgs) {
    const auto& args = *static_cast<const PassArgs*>(passArgs);
    const ModelMemory& m = args.memory;
    for (int64_t i = 0; i < args.liveSlots; ++i) {
        const int64_t slot = m.passSlots[i].slot;
        // Step leaves no cached tokens to a slot that it preempts, recovered at once or not.
        const bool lost = m.stopFlags[slot] != 0 || m.seqLensDecoder[slot] == 0;
        int32_t* table = m.heldTables + slot * m.maxBlocks;
        if (!lost) {
            continue;
        }
        const PagedSequence held(m, table);
        for (int64_t column = m.infos[slot].prefixTokens / m.blockSize;
             column < m.maxBlocks && table[column] >= 0; ++column) {
            if (KvCell* block = held.Block(column)) {
                std::memset(static_cast<void*>(block), kPoison,
                            static_cast<size_t>(m.blockSize) * sizeof(KvCell));
            }
            table[column] = -1;
        }
    }
}

void ReportSlotsKernel(void* passArgs) {
    const auto& args = *static_cast<const PassArgs*>(passArgs);
    const ModelMemory& m = args.memory;
    for (int64_t i = 0; i < args.liveSlots; ++i) {
        const int64_t slot = m.passSlots[i].slot;
        m.reports[i] = {m.nextTokens[slot], m.seqLensDecoder[slot], m.seqLensEncoder[slot],
                        m.usedListLen[slot], m.isBlockStep[slot] != 0 ? 1 : 0};
    }
}

void ReadCellsKernel(void* readCellsArgs) {
    const auto& args = *static_cast<const ReadCellsArgs*>(readCellsArgs);
    const PagedSequence sequence = PagedSequence::OfSlot(args.memory, args.slot);
    sequence.ForEach(0, args.length,
                     [&](int64_t position, const KvCell& cell) { args.out[position] = cell; });
}

}  // namespace serve
