// SPDX-License-Identifier: Apache-2.0
// The interface of an observer that a server reports its iterations to.

#pragma once

#include <cstdint>
#include <vector>

#include "device_array.h"
#include "device_session.h"
#include "scheduler.h"

namespace serve {

/// After the Step of an iteration. The device is idle.
struct StepState {
    int64_t step;                            // iterations before
    const std::vector<DeviceArray>& arrays;  // the tensors of both operators
    const std::vector<int64_t>& slotTokens;  // by slot: tokens known before the pass; 0: none
};

class ServerObserver {
 public:
    virtual ~ServerObserver() = default;

    /// Nothing that is enqueued may be pending at the end.
    virtual void AfterStep(const StepState& /*state*/, Stream& /*stream*/) {}
    /// The sequence has its last token.
    virtual void Finished(const Sequence& /*sequence*/) {}
};

}  // namespace serve
