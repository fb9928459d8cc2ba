// SPDX-License-Identifier: Apache-2.0
// Speculative decoding: the tensors and the call of aclnnAdvanceStepV2, and the two models around
// it.

#pragma once

#include <cstdint>
#include <vector>

#include "device_array.h"
#include "device_buffer.h"
#include "op_call.h"
#include "paged_model.h"
#include "serve_options.h"
#include "speculative_kernels.h"

namespace serve {

class Speculation {
 public:
    /// options.speculative > 0
    Speculation(const Options& options, const PagedModel& model);

    /// Enqueues, before the prefill, that the slots which want one begin anew.
    void BeginPrefill(Stream& stream) {
        stream.Launch(NotePrefillKernel, &memory_, "note prefill");
    }
    /// Enqueues the model's pass over the slots that BatchRows has assigned to rows: draft,
    /// AdvanceStepV2, verification, and the download of what it samples.
    void Enqueue(Stream& stream);

    /// The tensors of AdvanceStepV2.
    std::vector<DeviceArray> Arrays() const;

    int64_t SpecTokens() const { return rowsPerQuery_ - 1; }
    /// The index-th token that the last pass has sampled for a query; -1: there is none. After a
    /// synchronisation.
    int64_t SampledToken(int64_t query, int64_t index) const {
        return passSampled_[query * rowsPerQuery_ + index];
    }
    /// Tokens that the last pass has sampled for a query, at least one.
    int64_t SampledTokens(int64_t query) const;

    /// After a synchronisation: adds the device time of the last Enqueue.
    void CountDeviceTime() { call_.CountDeviceTime(); }
    const OpTiming& Timing() const { return call_.Timing(); }

 private:
    void MakeTensors(int64_t numQueries);

    int64_t rowsPerQuery_;
    int64_t blockSize_;
    Mirror<int64_t> passSampled_;
    DeviceBuffer<int64_t> lastSampled_;
    DeviceBuffer<int64_t> lastAccepted_;
    DeviceBuffer<int64_t> inputTokens_;
    DeviceBuffer<int64_t> sampledTokenIds_;
    DeviceBuffer<int64_t> inputPositions_;
    DeviceBuffer<int64_t> seqLens_;
    DeviceBuffer<int64_t> slotMapping_;
    DeviceBuffer<int32_t> blockTables_;
    DeviceBuffer<int64_t> specToken_;
    DeviceBuffer<int64_t> acceptedNum_;
    const PassArgs& pass_;
    SpeculativeMemory memory_;
    int64_t queries_ = 0;
    Tensor tensors_[8];  // in signature order; made anew when numQueries changes
    OpCall call_;
};

}  // namespace serve
