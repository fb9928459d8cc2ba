// SPDX-License-Identifier: Apache-2.0
// The call of aclnnStep on the slots.

#pragma once

#include <cstdint>
#include <vector>

#include "device_array.h"
#include "op_call.h"
#include "slot_state.h"

namespace serve {

class StepCall {
 public:
    StepCall(const SlotState& slots, int64_t blockSize);

    /// Takes blocks of ended sequences back, hands blocks to sequences that need one, preempts and
    /// recovers. Fails at synchronisation with ACL_ERROR_RT_RESOURCE_ALLOC_FAIL and nothing changed
    /// if there are too few blocks whatever it preempts.
    /// @param slots  those with a sequence, and those that ended since the last Step, are below
    void Enqueue(Stream& stream, int64_t slots);
    /// After a synchronisation: adds the device time of the last Enqueue.
    void CountDeviceTime() { call_.CountDeviceTime(); }

    /// The tensors of Step.
    const std::vector<DeviceArray>& Arrays() const { return arrays_; }
    const OpTiming& Timing() const { return call_.Timing(); }

 private:
    static constexpr size_t kSeqLensThisTime = 1;  // the tensor whose length is the batch

    int64_t slots_;
    int64_t blockSize_;
    int32_t* seqLensThisTime_;
    int64_t batch_ = 0;            // made anew when it changes
    std::vector<Tensor> tensors_;  // in signature order
    std::vector<DeviceArray> arrays_;
    OpCall call_;
};

}  // namespace serve
