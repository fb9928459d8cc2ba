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
    void Enqueue(Stream& stream);
    /// After a synchronisation: adds the device time of the last Enqueue.
    void CountDeviceTime() { call_.CountDeviceTime(); }

    /// The tensors of Step.
    const std::vector<DeviceArray>& Arrays() const { return arrays_; }
    const OpTiming& Timing() const { return call_.Timing(); }

 private:
    int64_t blockSize_;
    std::vector<Tensor> tensors_;  // in signature order
    std::vector<DeviceArray> arrays_;
    OpCall call_;
};

}  // namespace serve
