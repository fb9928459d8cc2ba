#include "paged_model.h"

#include <cstddef>

namespace serve {
namespace {

constexpr int kPoison = 0xA5;  // repeated, a negative token at a negative position

}  // namespace

// Sequences that are live together fit the cache together, and so do their read-backs.
PagedModel::PagedModel(const Options& options, const BatchState& batch)
    : blockSize_(options.blockSize),
      numSeqs_(batch.NumSeqs()),
      cache_(options.blocks * options.blockSize),
      gathered_(cache_.Size()),
      hostCells_(cache_.Size()),
      memory_{cache_.Data(),
              cache_.Size(),
              options.blockSize,
              batch.MaxBlocks(),
              batch.blockTables.Data(),
              batch.inputTokens.Data(),
              batch.inputPositions.Data(),
              batch.seqLens.Data(),
              batch.slotMapping.Data(),
              batch.sampledTokenIds.Data(),
              batch.rowInfos.Data(),
              batch.promptTokens.Data()},
      prefillArgs_{memory_, 0, 0},
      decodeArgs_{memory_, 0, 0} {
    gatherArgs_.reserve(static_cast<size_t>(options.maxSeqs));
    cache_.Fill(kPoison);
}

void PagedModel::Prefill(Stream& stream, int64_t firstRow, int64_t rowCount) {
    prefillArgs_ = {memory_, firstRow, rowCount};
    stream.Launch(PrefillKernel, &prefillArgs_);
}

void PagedModel::Decode(Stream& stream, int64_t numQueries) {
    decodeArgs_ = {memory_, numSeqs_, numQueries};
    stream.Launch(DecodeKernel, &decodeArgs_);
}

void PagedModel::ReadBack(Stream& stream, int64_t row, int64_t length) {
    int64_t begin = 0;
    if (!gatherArgs_.empty()) {
        begin = gatherArgs_.back().out - gathered_.Data() + gatherArgs_.back().length;
    }
    gatherArgs_.push_back({memory_, row, length, gathered_.Data() + begin});
    stream.Launch(GatherKernel, &gatherArgs_.back());
    Download(stream, hostCells_.Data() + begin, gathered_, begin, length);
}

const KvCell* PagedModel::Cells(int64_t index) const {
    const GatherArgs& args = gatherArgs_.at(static_cast<size_t>(index));
    return hostCells_.Data() + (args.out - gathered_.Data());
}

void PagedModel::ForgetReadBacks() { gatherArgs_.clear(); }

void PagedModel::Poison(Stream& stream, const std::vector<int32_t>& blocks) {
    for (const int32_t block : blocks) {
        const int64_t slot = block * blockSize_;
        stream.Fill(cache_.Data() + slot, cache_.BytesFrom(slot), kPoison,
                    cache_.Bytes(blockSize_));
    }
}

}  // namespace serve
