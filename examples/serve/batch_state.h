// The decode batch in device memory: every array that has a row per sequence.
#pragma once

#include <cstdint>
#include <vector>

#include "device_buffer.h"
#include "model_kernels.h"
#include "scheduler.h"

namespace serve {

/// Rows [0, live) are sequences, in the scheduler's order; the others are padding. There is always
/// a padding row, since standard conformance wants numQueries < numSeqs.
class BatchState {
 public:
    BatchState(const Options& options, int64_t prefillRoom);

    /// Enqueues the upload of newly admitted rows: block tables, prompts and lengths.
    void Load(Stream& stream, const std::vector<Sequence>& rows,
              const Scheduler::Admission& admission);
    /// Enqueues the move of a row, within the device.
    void Move(Stream& stream, int64_t from, int64_t to);
    /// Enqueues the download of the tokens of rows [0, count); read them after a synchronisation.
    void DownloadTokens(Stream& stream, int64_t count);

    /// The token that AdvanceStep gave the row, and the one sampled after it.
    int64_t InputToken(int64_t row) const { return hostInputTokens_[row]; }
    int64_t SampledToken(int64_t row) const { return hostSampledTokens_[row]; }

    int64_t NumSeqs() const { return numSeqs_; }
    int64_t MaxBlocks() const { return maxBlocks_; }

    // Device memory of AdvanceStep's tensors, in signature order, then the model's own.
    DeviceBuffer<int64_t> inputTokens;
    DeviceBuffer<int64_t> sampledTokenIds;
    DeviceBuffer<int64_t> inputPositions;
    DeviceBuffer<int64_t> seqLens;
    DeviceBuffer<int64_t> slotMapping;
    DeviceBuffer<int32_t> blockTables;
    DeviceBuffer<RowInfo> rowInfos;
    DeviceBuffer<int64_t> promptTokens;

 private:
    int64_t numSeqs_;
    int64_t maxBlocks_;
    // Uploads start from here, so nothing may be written while an earlier one is pending.
    PinnedBuffer<int64_t> hostSeqLens_;
    PinnedBuffer<int32_t> hostBlockTables_;
    PinnedBuffer<RowInfo> hostRowInfos_;
    PinnedBuffer<int64_t> hostPromptTokens_;
    // Downloads end here.
    PinnedBuffer<int64_t> hostInputTokens_;
    PinnedBuffer<int64_t> hostSampledTokens_;
};

}  // namespace serve
