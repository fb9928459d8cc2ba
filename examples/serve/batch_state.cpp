#include "batch_state.h"

#include <algorithm>
#include <cstddef>

namespace serve {

BatchState::BatchState(const Options& options, int64_t prefillRoom)
    : inputTokens(options.maxSeqs + 1),
      sampledTokenIds(options.maxSeqs + 1),
      inputPositions(options.maxSeqs + 1),
      seqLens(options.maxSeqs + 1),
      slotMapping(options.maxSeqs + 1),
      blockTables((options.maxSeqs + 1) * options.MaxBlocks()),
      rowInfos(options.maxSeqs + 1),
      promptTokens(prefillRoom),
      numSeqs_(options.maxSeqs + 1),
      maxBlocks_(options.MaxBlocks()),
      hostSeqLens_(options.maxSeqs),
      hostBlockTables_(options.maxSeqs * options.MaxBlocks()),
      hostRowInfos_(options.maxSeqs),
      hostPromptTokens_(prefillRoom),
      hostInputTokens_(options.maxSeqs),
      hostSampledTokens_(options.maxSeqs) {
    // Device memory comes with undefined contents, and padding rows are read before they are used.
    inputTokens.Fill(0);
    sampledTokenIds.Fill(0);
    inputPositions.Fill(0);
    seqLens.Fill(0);
    slotMapping.Fill(0);
    blockTables.Fill(0);
    rowInfos.Fill(0);
}

void BatchState::Load(Stream& stream, const std::vector<Sequence>& rows,
                      const Scheduler::Admission& admission) {
    int64_t promptEnd = 0;
    for (int64_t i = 0; i < admission.count; ++i) {
        const Sequence& sequence = rows[static_cast<size_t>(admission.firstRow + i)];
        const Request& request = *sequence.request;
        const uint64_t seed = SeedOf(request.line);
        hostSeqLens_[i] = request.promptTokens;
        hostRowInfos_[i] = {seed, request.TotalTokens(), promptEnd};
        // -1 where the sequence has no block: AdvanceStep refuses a position there.
        int32_t* table = hostBlockTables_.Data() + i * maxBlocks_;
        std::fill(std::copy(sequence.blocks.begin(), sequence.blocks.end(), table),
                  table + maxBlocks_, -1);
        for (int64_t position = 0; position < request.promptTokens; ++position) {
            hostPromptTokens_[promptEnd++] = PromptToken(seed, position);
        }
    }
    const int64_t first = admission.firstRow;
    const int64_t count = admission.count;
    Upload(stream, seqLens, first, hostSeqLens_.Data(), count);
    Upload(stream, rowInfos, first, hostRowInfos_.Data(), count);
    Upload(stream, blockTables, first * maxBlocks_, hostBlockTables_.Data(), count * maxBlocks_);
    Upload(stream, promptTokens, 0, hostPromptTokens_.Data(), promptEnd);
}

void BatchState::Move(Stream& stream, int64_t from, int64_t to) {
    // What the next AdvanceStep reads; it writes inputTokens, inputPositions and slotMapping anew.
    MoveWithin(stream, sampledTokenIds, from, to, 1);
    MoveWithin(stream, seqLens, from, to, 1);
    MoveWithin(stream, rowInfos, from, to, 1);
    MoveWithin(stream, blockTables, from * maxBlocks_, to * maxBlocks_, maxBlocks_);
}

void BatchState::DownloadTokens(Stream& stream, int64_t count) {
    Download(stream, hostInputTokens_.Data(), inputTokens, 0, count);
    Download(stream, hostSampledTokens_.Data(), sampledTokenIds, 0, count);
}

}  // namespace serve
