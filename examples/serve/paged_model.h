// The toy model on the device: the paged KV cache and the launches of the kernels that use it.
#pragma once

#include <cstdint>
#include <vector>

#include "batch_state.h"
#include "device_buffer.h"
#include "model_kernels.h"

namespace serve {

class PagedModel {
 public:
    PagedModel(const Options& options, const BatchState& batch);

    /// Each enqueues one kernel; the stream must have run it before the same is called again.
    void Prefill(Stream& stream, int64_t firstRow, int64_t rowCount);
    void Decode(Stream& stream, int64_t numQueries);

    /// Enqueues the copy of a sequence's cells, read through the block table, to the host. Any
    /// number of different rows may be read back before ForgetReadBacks.
    void ReadBack(Stream& stream, int64_t row, int64_t length);
    /// The cells of the index-th sequence read back; after a synchronisation.
    const KvCell* Cells(int64_t index) const;
    void ForgetReadBacks();

    /// Enqueues the overwriting of blocks, so that nothing left in them can be taken for a cell.
    void Poison(Stream& stream, const std::vector<int32_t>& blocks);

 private:
    int64_t blockSize_;
    int64_t numSeqs_;
    DeviceBuffer<KvCell> cache_;
    DeviceBuffer<KvCell> gathered_;
    PinnedBuffer<KvCell> hostCells_;
    ModelMemory memory_;
    // The kernels' arguments.
    PrefillArgs prefillArgs_;
    DecodeArgs decodeArgs_;
    std::vector<GatherArgs> gatherArgs_;  // never reallocated: kernels point into it
};

}  // namespace serve
