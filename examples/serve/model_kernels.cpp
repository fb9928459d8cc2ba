#include "model_kernels.h"

#include <algorithm>

namespace serve {
namespace {

// Stands for a cell that is not in the cache: no position looks like it.
constexpr KvCell kNoCell = {-1, -1, 0};

// One row's view of the cache. Slots outside the cache are not followed: such a write is lost and
// such a read gives kNoCell, which the check at the end of the request finds.
class PagedRow {
 public:
    PagedRow(const ModelMemory& memory, int64_t row)
        : memory_(memory), table_(memory.blockTables + row * memory.maxBlocks) {}

    KvCell CellAt(int64_t position) const {
        const KvCell* block = Block(position / memory_.blockSize);
        return block != nullptr ? block[position % memory_.blockSize] : kNoCell;
    }

    // visit(position, cell) for the positions [0, length) in order, a block at a time.
    template <typename Visit>
    void ForEach(int64_t length, const Visit& visit) const {
        int64_t position = 0;
        for (int64_t column = 0; position < length; ++column) {
            KvCell* block = Block(column);
            const int64_t end = std::min(length, position + memory_.blockSize);
            for (int64_t offset = 0; position < end; ++position, ++offset) {
                KvCell lost = kNoCell;
                visit(position, block != nullptr ? block[offset] : lost);
            }
        }
    }

 private:
    KvCell* Block(int64_t column) const {
        if (column < 0 || column >= memory_.maxBlocks) {
            return nullptr;
        }
        const int64_t slot = table_[column] * memory_.blockSize;
        const bool inside = slot >= 0 && slot + memory_.blockSize <= memory_.slots;
        return inside ? memory_.cache + slot : nullptr;
    }

    const ModelMemory& memory_;
    const int32_t* table_;
};

int64_t SampleNext(const PagedRow& row, int64_t length) {
    return NextToken(length, [&](int64_t position) { return row.CellAt(position); });
}

int64_t SampleClosing(const PagedRow& row, int64_t length) {
    TokenHash hash;
    row.ForEach(length, [&](int64_t, const KvCell& cell) { hash.Add(cell); });
    return hash.Token();
}

}  // namespace

void PrefillKernel(void* prefillArgs) {
    const auto& args = *static_cast<const PrefillArgs*>(prefillArgs);
    const ModelMemory& memory = args.memory;
    for (int64_t r = args.firstRow; r < args.firstRow + args.rowCount; ++r) {
        const PagedRow row(memory, r);
        const RowInfo& info = memory.rows[r];
        const int64_t* prompt = memory.promptTokens + info.promptBegin;
        row.ForEach(memory.seqLens[r], [&](int64_t position, KvCell& cell) {
            cell = CellOf(info.seed, prompt[position], position);
        });
        memory.sampledTokenIds[r] = SampleNext(row, memory.seqLens[r]);
    }
}

void DecodeKernel(void* decodeArgs) {
    const auto& args = *static_cast<const DecodeArgs*>(decodeArgs);
    const ModelMemory& memory = args.memory;
    // As a captured graph would, this writes every row that has a slot, padding or not: a padding
    // row that AdvanceStep left with a slot would damage the cache and be found.
    for (int64_t r = 0; r < args.numSeqs; ++r) {
        const int64_t slot = memory.slotMapping[r];
        if (slot >= 0 && slot < memory.slots) {
            memory.cache[slot] =
                CellOf(memory.rows[r].seed, memory.inputTokens[r], memory.inputPositions[r]);
        }
    }
    for (int64_t r = 0; r < args.numQueries; ++r) {
        const PagedRow row(memory, r);
        const int64_t length = memory.seqLens[r];
        const bool ends = length >= memory.rows[r].endLen;
        memory.sampledTokenIds[r] = ends ? SampleClosing(row, length) : SampleNext(row, length);
    }
}

void GatherKernel(void* gatherArgs) {
    const auto& args = *static_cast<const GatherArgs*>(gatherArgs);
    const PagedRow row(args.memory, args.row);
    row.ForEach(args.length,
                [&](int64_t position, const KvCell& cell) { args.out[position] = cell; });
}

}  // namespace serve
