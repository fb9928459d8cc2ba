// SPDX-License-Identifier: Apache-2.0
// The interface of an observer that a server reports its iterations to.

#pragma once

#include <cstdint>
#include <vector>

#include "device_array.h"
#include "device_session.h"
#include "run_record.h"
#include "scheduler.h"
#include "virtual_clock.h"

namespace serve {

/// After the Step of an iteration. The device is idle.
struct StepState {
    int64_t step;                            // iterations before
    const std::vector<DeviceArray>& arrays;  // the tensors of both operators
    const std::vector<int64_t>& slotTokens;  // by slot: tokens known before the pass; 0: none
};

/// After all of an iteration.
struct IterationState {
    int64_t begin;  // ticks of virtual time
    int64_t end;
    const LoadSample& load;
    const IterationWork& work;
    const Scheduler& scheduler;
};

class ServerObserver {
 public:
    virtual ~ServerObserver() = default;

    /// Whether AfterStep is wanted. It costs time by slot and not by sequence.
    virtual bool LooksAtSteps() const { return false; }
    /// Nothing that is enqueued may be pending at the end.
    virtual void AfterStep(const StepState& /*state*/, Stream& /*stream*/) {}
    /// The sequence has its last token, and has left its slot.
    virtual void Finished(const Sequence& /*sequence*/, int64_t /*slot*/) {}
    /// The sequence has left its slot in the iteration that runs, and waits again.
    virtual void Shed(const Sequence& /*sequence*/, int64_t /*slot*/) {}
    virtual void Iterated(const IterationState& /*state*/) {}
};

}  // namespace serve
