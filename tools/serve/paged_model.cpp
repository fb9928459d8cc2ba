// SPDX-License-Identifier: Apache-2.0
// Allocates the paged KV cache and describes the model's memory to its kernels.

#include "paged_model.h"

#include <algorithm>

namespace serve {

PagedModel::PagedModel(const Options& options, const SlotState& slots, const BatchRows& batch)
    : cache_(options.blocks * options.blockSize),
      heldTables_(slots.Slots() * slots.MaxBlocks()),
      passSlots_(slots.Slots()),
      reports_(slots.Slots()),
      args_{{cache_.Data(),
             cache_.Size(),
             options.blockSize,
             slots.MaxBlocks(),
             slots.Slots(),
             slots.stopFlags.Data(),
             slots.isBlockStep.Data(),
             slots.encoderBlockLens.Data(),
             slots.usedListLen.Data(),
             slots.seqLensThisTime.Data(),
             slots.seqLensEncoder.Data(),
             slots.seqLensDecoder.Data(),
             slots.blockTables.Data(),
             slots.inputIds.Data(),
             slots.InputWidth(),
             slots.preIds.Data(),
             slots.PreWidth(),
             slots.stepIdx.Data(),
             slots.nextTokens.Data(),
             slots.infos.Data(),
             slots.prefixSeeds.Data(),
             slots.PrefixWidth(),
             heldTables_.Data(),
             passSlots_.Data(),
             reports_.Data(),
             batch.rowSlots.Data(),
             batch.sampledTokenIds.Data(),
             batch.seqLens.Data(),
             batch.blockTables.Data(),
             batch.inputTokens.Data(),
             batch.inputPositions.Data(),
             batch.slotMapping.Data()},
            0,
            0,
            0} {
    cache_.Fill(kPoison);
    heldTables_.Fill(kMinusOne);
}

void PagedModel::BeginPass(Stream& stream, const std::vector<PassSlot>& live, int64_t numQueries,
                           int64_t numSeqs) {
    args_.liveSlots = static_cast<int64_t>(live.size());
    args_.numQueries = numQueries;
    args_.numSeqs = numSeqs;
    std::copy(live.begin(), live.end(), &passSlots_[0]);
    passSlots_.Send(stream, 0, args_.liveSlots);
}

void PagedModel::FetchReports(Stream& stream) {
    stream.Launch(ReportSlotsKernel, &args_, "report slots");
    reports_.Fetch(stream, args_.liveSlots);
}

}  // namespace serve
