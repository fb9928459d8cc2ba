// SPDX-License-Identifier: Apache-2.0
// Phase one from the handles to the executor. It is the same for every operator: an operator adds
// its signature, and a function that checks, tiles and makes the plan.

#pragma once

#include <array>
#include <initializer_list>

#include "op_host/common/environment.h"
#include "op_host/common/signature.h"
#include "src/aclnn/executor.h"
#include "src/aclnn/run.h"
#include "src/aclnn/tensor.h"

namespace advstep {

/// The places for the results of phase one.
struct PhaseOneOutputs {
    uint64_t* workspaceSize;
    aclOpExecutor** executor;
};

/// A call that is being planned.
struct PlanRequest {
    const TensorView* views;  // in signature order
    const Device& device;
    OperatorEnvironment environment;
    const PlanKey& key;
    PhaseOneOutputs outputs;
};

/// The part of a signature that executors point to. Each signature has one such array.
template <size_t kCount>
constexpr std::array<TensorSlot, kCount> MakeSlots(const Signature<kCount>& signature) {
    std::array<TensorSlot, kCount> slots{};
    for (size_t place = 0; place < kCount; ++place) {
        slots[place] = {signature[place].name, signature[place].access == Access::kWritten,
                        signature[place].addressAt};
    }
    return slots;
}
template <const auto& kSignature>
inline constexpr auto kSlotsOf = MakeSlots(kSignature);

/// Looks for an equal plan, and calls makePlan(const PlanRequest&), which returns a Status, if
/// there is none. `call` is the name of phase two; `attributes` are those that the plan depends on;
/// `tensors` are the arguments in signature order.
/// Codes: 161001 for a null tensor or output, 161002 for a destroyed tensor, 361001 without a
/// current context, and those of makePlan.
template <const auto& kSignature, typename MakePlan, typename... Tensors>
Status PhaseOne(const char* call, const PhaseOneOutputs& outputs,
                std::initializer_list<int64_t> attributes, const MakePlan& makePlan,
                const Tensors*... tensors) {
    constexpr size_t kCount = kSignature.size();
    static_assert(sizeof...(tensors) == kCount);
    const PlanKey key(call, {tensors...}, attributes);
    if (PlannedBefore(key, outputs.workspaceSize, outputs.executor)) {
        return {};
    }
    const aclTensor* const handles[] = {tensors...};
    TensorView views[kCount];
    for (size_t place = 0; place < kCount; ++place) {
        ADVSTEP_RETURN_IF_ERROR(ViewOf(handles[place], kSignature[place].name, &views[place]));
    }
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(outputs.workspaceSize, "workspaceSize"));
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(outputs.executor, "executor"));
    const Device* device = nullptr;
    ADVSTEP_RETURN_IF_ERROR(PlanningDevice(&device));
    return makePlan(PlanRequest{views, *device,
                                EnvironmentOf(device->settings(), PlanningVectorCores(*device)),
                                key, outputs});
}

/// The end of phase one: makes the executor and sets both outputs. The operator has set the plan's
/// program, coreCount and rows, its workspace if it has one, and allDistinct if it wants that.
/// Codes: MakeExecutor.
template <const auto& kSignature, typename Payload>
Status FinishPlan(const PlanRequest& request, const Payload& payload, Plan* plan) {
    constexpr size_t kCount = kSignature.size();
    static_assert(sizeof(Payload) <= aclOpExecutor::kMostPayload);
    static_assert(kCount <= size_t{aclOpExecutor::kMostTensors});
    const TensorView* views[kCount];
    for (size_t place = 0; place < kCount; ++place) {
        views[place] = &request.views[place];
    }
    plan->launch.device = &request.device;
    plan->launch.payloadBytes = sizeof(Payload);
    plan->payload = &payload;
    plan->slots = kSlotsOf<kSignature>.data();
    plan->views = views;
    plan->tensorCount = static_cast<int32_t>(kCount);
    plan->key = &request.key;
    ADVSTEP_RETURN_IF_ERROR(MakeExecutor(*plan, request.outputs.executor));
    *request.outputs.workspaceSize = plan->workspaceBytes;
    return {};
}

}  // namespace advstep
