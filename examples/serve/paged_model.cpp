// SPDX-License-Identifier: Apache-2.0
// Allocates the paged KV cache and describes the model's memory to its kernels.

#include "paged_model.h"

namespace serve {

PagedModel::PagedModel(const Options& options, const SlotState& slots, const BatchRows& batch)
    : cache_(options.blocks * options.blockSize),
      heldTables_(slots.Slots() * slots.MaxBlocks()),
      memory_{cache_.Data(),
              cache_.Size(),
              options.blockSize,
              slots.MaxBlocks(),
              slots.Slots(),
              slots.stopFlags.Data(),
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
              heldTables_.Data(),
              batch.NumSeqs(),
              batch.rowSlots.Data(),
              batch.sampledTokenIds.Data(),
              batch.seqLens.Data(),
              batch.blockTables.Data(),
              batch.inputTokens.Data(),
              batch.inputPositions.Data(),
              batch.slotMapping.Data()},
      rowArgs_{memory_, 0} {
    cache_.Fill(kPoison);
    heldTables_.Fill(kMinusOne);
}

void PagedModel::GatherRows(Stream& stream, int64_t numQueries) {
    rowArgs_.numQueries = numQueries;
    stream.Launch(GatherRowsKernel, &rowArgs_);
}

}  // namespace serve
