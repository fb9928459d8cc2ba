// SPDX-License-Identifier: Apache-2.0
// The functions that host operators in two calls plan and run with.
#include "advance_step/host_call.h"

#include <memory>
#include <vector>

#include "faults/scene.h"
#include "support/handles.h"
#include "support/tensor.h"

namespace faults {
namespace {

constexpr AdvStepHostCallTable kTable = {
    sizeof(AdvStepHostCallTable), ADVSTEP_HOST_CALL_INTERFACE, "aclnnFaultsHost",
    [](const void*, const AdvStepHostRun*) -> int32_t { return 0; },
    [](void* args) { ++*static_cast<int*>(args); }};

const AdvStepHostCall* HostCall() {
    const AdvStepHostCall* call = nullptr;
    (void)advstepRegisterHostCall(&kTable, &call);
    return call;
}

// A call with one tensor. Each plan that is made releases its arguments, and so does each failure.
struct HostBatch {
    ~HostBatch() { advstepReleaseHostPlan(plan); }

    int Plan() {
        AdvStepHostTensor described{{}, "self", ADVSTEP_READS_AND_WRITES, 0, -1};
        if (const int code = advstepReadTensor(tensor.Get(), &described.view)) {
            return code;
        }
        const AdvStepHostPlanRequest request{
            sizeof(AdvStepHostPlanRequest), 1, &described, &released, 0, 1};
        ++planned;
        const int code = advstepMakeHostPlan(HostCall(), &request, &plan);
        return released == planned - (plan != nullptr ? 1 : 0) ? code : -1;
    }
    int Execute() {
        uint64_t bytes = 0;
        return advstepMakeHostExecutor(plan, nullptr, &bytes, &executor);
    }

    support::DeviceBuffer memory{std::vector<int64_t>{1, 2}};
    support::Tensor tensor{support::TensorSpec{{2}, memory.Get()}};
    int planned = 0;
    int released = 0;
    AdvStepHostPlan* plan = nullptr;
    aclOpExecutor* executor = nullptr;
};

HostBatch& Host(Scene& s) { return *static_cast<HostBatch*>(s.batch.get()); }

int MakeHost(Scene& s) {
    s.batch = std::make_shared<HostBatch>();
    return HostCall() != nullptr ? 0 : -1;
}
int PlanHost(Scene& s) { return First({MakeHost(s), Host(s).Plan()}); }
int ExecuteHost(Scene& s) { return Host(s).Execute(); }
int RunHost(Scene& s) {
    return First({Host(s).Execute(),
                  advstepRunHostExecutor(HostCall(), nullptr, 0, Host(s).executor, s.stream)});
}
int DestroyHost(Scene& s) { return aclDestroyAclOpExecutor(Host(s).executor); }

}  // namespace

std::vector<Call> HostCallCalls() {
    return {
        {"advstepRegisterHostCall", nullptr,
         [](Scene&) -> int {
             static constexpr AdvStepHostCallTable kAgain = {
                 sizeof(AdvStepHostCallTable), ADVSTEP_HOST_CALL_INTERFACE, "aclnnFaultsHostAgain",
                 kTable.run, nullptr};
             const AdvStepHostCall* call = nullptr;
             return advstepRegisterHostCall(&kAgain, &call);
         },
         nullptr},
        {"advstepMakeHostPlan", &MakeHost, [](Scene& s) -> int { return Host(s).Plan(); }, nullptr},
        {"advstepReleaseHostPlan", &PlanHost,
         [](Scene& s) -> int {
             advstepReleaseHostPlan(Host(s).plan);
             Host(s).plan = nullptr;
             return Host(s).released == 1 ? 0 : -1;
         },
         nullptr},
        {"advstepMakeHostExecutor", &PlanHost, &ExecuteHost, &DestroyHost},
        {"advstepRunHostExecutor", &PlanHost, &RunHost, nullptr},
        {"advstepRefuseHostCall", nullptr,
         [](Scene&) -> int {
             const int code = advstepRefuseHostCall("aclnnNone", ACLNN_ERR_PARAM_INVALID, "no");
             return code == ACLNN_ERR_PARAM_INVALID ? 0 : code;
         },
         nullptr},
    };
}

}  // namespace faults
