// SPDX-License-Identifier: Apache-2.0
// The plan of a host operator: its arguments, and its tensors without their addresses.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "advance_step/host_call.h"
#include "src/aclnn/operator_registry.h"
#include "src/base/status.h"
#include "src/base/tensor_view.h"

namespace advstep {

/// What the checks of a run need to know of a tensor.
struct HostTensor {
    const char* name;
    int64_t firstByte;   // from the storage address to the byte of the first element
    int64_t spanBytes;   // from there to the end of the byte of the last element; 0: no elements
    uint64_t alignment;  // of the first element's address
    AdvStepTensorAccess access;
    uint32_t argument;
    int32_t member;

    bool IsWritten() const { return (access & ADVSTEP_WRITES) != 0; }
};

}  // namespace advstep

/// A plan. It never changes. It is counted, and the last share releases the arguments.
struct AdvStepHostPlan {
 public:
    /// Makes a plan with one share. If it fails, the arguments have not been released. Codes as
    /// advstepMakeHostPlan.
    static advstep::Status Make(const AdvStepHostCall& call, const AdvStepHostPlanRequest& request,
                                AdvStepHostPlan** made);

    AdvStepHostPlan(const AdvStepHostPlan&) = delete;
    AdvStepHostPlan& operator=(const AdvStepHostPlan&) = delete;

    void Own() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
    void Drop() noexcept {
        if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }

    size_t count() const { return tensors.size(); }

    const AdvStepHostCall* const call;
    void* const args;
    const uint64_t workspaceBytes;
    const bool isShort;
    std::vector<advstep::HostTensor> tensors;
    std::vector<AdvStepTensorView> views;  // with the addresses of the request

 private:
    AdvStepHostPlan(const AdvStepHostCall& planned, const AdvStepHostPlanRequest& request);
    ~AdvStepHostPlan();

    void CopyShape(const AdvStepTensorView& view, size_t* used);

    std::atomic<uint32_t> owners_{1};
    bool releases_ = false;      // the arguments: the plan is whole
    std::vector<int64_t> dims_;  // dims and strides of the views
};
