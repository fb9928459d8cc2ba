// SPDX-License-Identifier: Apache-2.0
// The functions by which host operators plan and run.
#include "advance_step/host_call.h"

#include <cstdio>

#include "src/aclnn/executor.h"
#include "src/aclnn/host_launch.h"
#include "src/aclnn/host_plan.h"
#include "src/aclnn/operator_registry.h"
#include "src/aclnn/run.h"
#include "src/base/boundary.h"
#include "src/runtime/commands/host_work.h"

using namespace advstep;

namespace {

constexpr char kNoCall[] = "a host operator that is not registered";

const char* PhaseOneOf(const AdvStepHostCall* call) {
    return call != nullptr ? call->phaseOne.c_str() : kNoCall;
}

Status MakeHostPlan(const AdvStepHostCall* call, const AdvStepHostPlanRequest* request,
                    AdvStepHostPlan** plan) {
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(call, "call"));
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(request, "request"));
    if (request->structBytes != sizeof(AdvStepHostPlanRequest)) {
        return Error(ACLNN_ERR_INNER, "request has structBytes {}; expected {}",
                     request->structBytes, sizeof(AdvStepHostPlanRequest));
    }
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(plan, "plan"));
    return AdvStepHostPlan::Make(*call, *request, plan);
}

// Returns whether the failed call that was given these could find the arguments in them.
bool HasHostArguments(const AdvStepHostCall* call, const AdvStepHostPlanRequest* request) {
    return call != nullptr && request != nullptr &&
           request->structBytes == sizeof(AdvStepHostPlanRequest);
}

Status PlanHostExecutor(AdvStepHostPlan* plan, void* const* addresses, uint64_t* workspaceSize,
                        aclOpExecutor** executor) {
    if (plan == nullptr) {
        return RequireOutput(plan, "plan");
    }
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(workspaceSize, "workspaceSize"));
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(executor, "executor"));
    const Device* device = nullptr;
    ADVSTEP_RETURN_IF_ERROR(PlanningDevice(&device));
    *executor = MakeHostExecutor(HostLaunch::Make(plan, addresses, *device));
    *workspaceSize = plan->workspaceBytes;
    return {};
}

}  // namespace

aclnnStatus advstepRegisterHostCall(const AdvStepHostCallTable* table,
                                    const AdvStepHostCall** call) {
    return AclnnBoundary("advstepRegisterHostCall", ACLNN_ERR_INNER, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireOutput(call, "call"));
        *call = nullptr;
        ADVSTEP_RETURN_IF_ERROR(RequireOutput(table, "table"));
        return RegisterHostCall(*table, call);
    });
}

aclnnStatus advstepMakeHostPlan(const AdvStepHostCall* call, const AdvStepHostPlanRequest* request,
                                AdvStepHostPlan** plan) {
    const aclnnStatus code = AclnnBoundary(PhaseOneOf(call), ACLNN_ERR_INNER,
                                           [&] { return MakeHostPlan(call, request, plan); });
    if (code != ACLNN_SUCCESS && HasHostArguments(call, request)) {
        ReleaseHostArgs(call->table->release, request->args);
    }
    return code;
}

void advstepReleaseHostPlan(AdvStepHostPlan* plan) {
    if (plan != nullptr) {
        plan->Drop();
    }
}

aclnnStatus advstepMakeHostExecutor(AdvStepHostPlan* plan, void* const* addresses,
                                    uint64_t* workspaceSize, aclOpExecutor** executor) {
    return AclnnBoundary(PhaseOneOf(plan != nullptr ? plan->call : nullptr), ACLNN_ERR_INNER, [&] {
        return PlanHostExecutor(plan, addresses, workspaceSize, executor);
    });
}

aclnnStatus advstepRunHostExecutor(const AdvStepHostCall* call, void* workspace,
                                   uint64_t workspaceSize, aclOpExecutor* executor,
                                   aclrtStream stream) {
    return AclnnBoundary(call != nullptr ? call->call.c_str() : kNoCall, ACLNN_ERR_INNER,
                         [&]() -> Status {
                             if (call == nullptr) {
                                 return RequireOutput(call, "call");
                             }
                             return RunExecutor(call->table->call, call->owner, workspace,
                                                workspaceSize, executor, stream);
                         });
}

aclnnStatus advstepRefuseHostCall(const char* call, aclnnStatus code, const char* message) {
    char phaseOne[256];
    (void)std::snprintf(phaseOne, sizeof phaseOne, "%sGetWorkspaceSize",
                        call != nullptr ? call : "aclnn");
    return RecordFailure(phaseOne, code != ACLNN_SUCCESS ? code : ACLNN_ERR_INNER,
                         message != nullptr ? message : TextOfCaught("unknown exception"));
}
