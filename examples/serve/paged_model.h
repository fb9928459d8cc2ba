// SPDX-License-Identifier: Apache-2.0
// The toy model on the device: the paged KV cache and the launches of the kernels that use it.

#pragma once

#include <cstdint>

#include "batch_rows.h"
#include "device_buffer.h"
#include "model_kernels.h"
#include "slot_state.h"

namespace serve {

/// Each call enqueues one kernel; the stream must have run it before the same is called again.
class PagedModel {
 public:
    PagedModel(const Options& options, const SlotState& slots, const BatchRows& batch);

    void Prefill(Stream& stream) { stream.Launch(PrefillKernel, &memory_); }
    void GatherRows(Stream& stream, int64_t numQueries);
    /// Of the rows gathered last.
    void Decode(Stream& stream) { stream.Launch(DecodeKernel, &rowArgs_); }
    void NoteBlocks(Stream& stream) { stream.Launch(NoteBlocksKernel, &memory_); }
    void PoisonLost(Stream& stream) { stream.Launch(PoisonLostKernel, &memory_); }

    const ModelMemory& Memory() const { return memory_; }

 private:
    DeviceBuffer<KvCell> cache_;
    DeviceBuffer<int32_t> heldTables_;
    ModelMemory memory_;
    RowArgs rowArgs_;
};

}  // namespace serve
