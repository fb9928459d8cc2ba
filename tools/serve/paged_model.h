// SPDX-License-Identifier: Apache-2.0
// The toy model on the device: the paged KV cache and the launches of the kernels that use it.

#pragma once

#include <cstdint>
#include <vector>

#include "batch_rows.h"
#include "device_buffer.h"
#include "model_kernels.h"
#include "slot_state.h"

namespace serve {

/// A pass is begun, run and reported before the next one is begun: its kernels share their
/// arguments, which only the host writes while nothing is pending.
class PagedModel {
 public:
    PagedModel(const Options& options, const SlotState& slots, const BatchRows& batch);

    /// Enqueues the upload of the live slots, by ascending slot. The decode batch has numSeqs rows,
    /// of which the first numQueries are sequences.
    void BeginPass(Stream& stream, const std::vector<PassSlot>& live, int64_t numQueries,
                   int64_t numSeqs);
    void Prefill(Stream& stream) { stream.Launch(PrefillKernel, &args_, "prefill"); }
    void GatherRows(Stream& stream) { stream.Launch(GatherRowsKernel, &args_, "gather rows"); }
    /// Of the rows gathered last.
    void Decode(Stream& stream) { stream.Launch(DecodeKernel, &args_, "decode"); }
    void NoteBlocks(Stream& stream) { stream.Launch(NoteBlocksKernel, &args_, "note blocks"); }
    void PoisonLost(Stream& stream) {
        stream.Launch(PoisonLostKernel, &args_, "poison lost blocks");
    }

    /// Enqueues the download of the state of the live slots.
    void FetchReports(Stream& stream);
    /// Of the index-th live slot; after a synchronisation.
    const SlotReport& Report(int64_t index) const { return reports_[index]; }

    const ModelMemory& Memory() const { return args_.memory; }
    /// Of the running pass.
    const PassArgs& Args() const { return args_; }

 private:
    DeviceBuffer<KvCell> cache_;
    DeviceBuffer<int32_t> heldTables_;
    Mirror<PassSlot> passSlots_;
    Mirror<SlotReport> reports_;
    PassArgs args_;
};

}  // namespace serve
