// SPDX-License-Identifier: Apache-2.0
// The call of aclnnAdvanceStep on a decode batch.

#pragma once

#include <cstdint>

#include "batch_rows.h"
#include "op_call.h"

namespace serve {

class AdvanceCall {
 public:
    /// batch must outlive the call.
    AdvanceCall(const BatchRows& batch, int64_t blockSize);

    /// Moves rows [0, numQueries) of numSeqs one token forward.
    void Enqueue(Stream& stream, int64_t numQueries, int64_t numSeqs);
    /// After a synchronisation: adds the device time of the last Enqueue.
    void CountDeviceTime() { call_.CountDeviceTime(); }

    const OpTiming& Timing() const { return call_.Timing(); }

 private:
    void MakeTensors(int64_t numSeqs);

    const BatchRows& batch_;
    int64_t blockSize_;
    // Made anew when numSeqs changes.
    Tensor inputTokens_;
    Tensor inputPositions_;
    Tensor seqLens_;
    Tensor slotMapping_;
    Tensor blockTables_;
    int64_t rows_ = 0;
    Tensor sampledTokenIds_;  // [numQueries, 1]: made anew when numQueries changes
    int64_t sampledRows_ = 0;
    OpCall call_;
};

}  // namespace serve
