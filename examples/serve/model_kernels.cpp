// SPDX-License-Identifier: Apache-2.0
// Implements the kernels of the toy model: prefill, decode, bookkeeping and reading of cells.

#include "model_kernels.h"

#include <cstring>

#include "sampling.h"

namespace serve {
namespace {

void CopyTable(const ModelMemory& m, int32_t* dst, const int32_t* src) {
    std::memcpy(dst, src, static_cast<size_t>(m.maxBlocks) * sizeof(int32_t));
}

}  // namespace

void PrefillKernel(void* modelMemory) {
    const auto& m = *static_cast<const ModelMemory*>(modelMemory);
    for (int64_t slot = 0; slot < m.slots; ++slot) {
        const int32_t length = m.seqLensEncoder[slot];
        if (m.stopFlags[slot] != 0 || length == 0) {
            continue;
        }
        const PagedSequence sequence = PagedSequence::OfSlot(m, slot);
        const SlotInfo& info = m.infos[slot];
        const int64_t* tokens = m.inputIds + slot * m.inputWidth;
        sequence.ForEach(length, [&](int64_t position, KvCell& cell) {
            cell = CellOf(info.seed, tokens[position], position);
        });
        TakeSample(m, slot, length, Sample(sequence, length, info.endLen));
    }
}

void GatherRowsKernel(void* rowArgs) {
    const auto& args = *static_cast<const RowArgs*>(rowArgs);
    const ModelMemory& m = args.memory;
    for (int64_t row = 0; row < args.numQueries; ++row) {
        const int64_t slot = m.rowSlots[row];
        m.sampledTokenIds[row] = m.nextTokens[slot];
        m.seqLens[row] = m.seqLensDecoder[slot];
        CopyTable(m, m.rowTables + row * m.maxBlocks, m.slotTables + slot * m.maxBlocks);
    }
}

void DecodeKernel(void* rowArgs) {
    const auto& args = *static_cast<const RowArgs*>(rowArgs);
    const ModelMemory& m = args.memory;
    // As a captured graph would, this writes every row that has a slot mapping, padding or not: a
    // padding row that AdvanceStep left with one would damage the cache and be found.
    for (int64_t row = 0; row < m.numSeqs; ++row) {
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

void NoteBlocksKernel(void* modelMemory) {
    const auto& m = *static_cast<const ModelMemory*>(modelMemory);
    for (int64_t slot = 0; slot < m.slots; ++slot) {
        if (m.stopFlags[slot] == 0) {
            CopyTable(m, m.heldTables + slot * m.maxBlocks, m.slotTables + slot * m.maxBlocks);
        }
    }
}

void PoisonLostKernel(void* modelMemory) {
    const auto& m = *static_cast<const ModelMemory*>(modelMemory);
    for (int64_t slot = 0; slot < m.slots; ++slot) {
        const bool lost = m.stopFlags[slot] != 0 || m.seqLensEncoder[slot] != 0;
        int32_t* table = m.heldTables + slot * m.maxBlocks;
        if (!lost || table[0] < 0) {
            continue;
        }
        const PagedSequence held(m, table);
        for (int64_t column = 0; column < m.maxBlocks; ++column) {
            if (KvCell* block = held.Block(column)) {
                std::memset(static_cast<void*>(block), kPoison,
                            static_cast<size_t>(m.blockSize) * sizeof(KvCell));
            }
            table[column] = -1;
        }
    }
}

void ReadCellsKernel(void* readCellsArgs) {
    const auto& args = *static_cast<const ReadCellsArgs*>(readCellsArgs);
    const PagedSequence sequence = PagedSequence::OfSlot(args.memory, args.slot);
    sequence.ForEach(args.length,
                     [&](int64_t position, const KvCell& cell) { args.out[position] = cell; });
}

}  // namespace serve
