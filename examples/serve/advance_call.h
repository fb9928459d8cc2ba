// SPDX-License-Identifier: Apache-2.0
// The call of aclnnAdvanceStep on a decode batch.

#pragma once

#include <cstdint>

#include "batch_rows.h"
#include "op_call.h"

namespace serve {

class AdvanceCall {
 public:
    AdvanceCall(const BatchRows& batch, int64_t blockSize);

    /// Moves rows [0, numQueries) one token forward.
    void Enqueue(Stream& stream, int64_t numQueries);
    /// After a synchronisation: adds the device time of the last Enqueue.
    void CountDeviceTime() { call_.CountDeviceTime(); }

    const OpTiming& Timing() const { return call_.Timing(); }

 private:
    int64_t numSeqs_;
    int64_t blockSize_;
    int64_t* sampledTokenData_;
    Tensor inputTokens_;
    Tensor sampledTokenIds_;  // [numQueries, 1]: made anew when numQueries changes
    Tensor inputPositions_;
    Tensor seqLens_;
    Tensor slotMapping_;
    Tensor blockTables_;
    int64_t sampledRows_ = 0;
    OpCall call_;
};

}  // namespace serve
