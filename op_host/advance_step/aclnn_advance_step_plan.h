// What phase one of the AdvanceStep operators has in common.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "op_host/advance_step/advance_step_params.h"
#include "op_host/common/environment.h"
#include "op_kernel/advance_step/advance_step_kernel.h"
#include "src/aclnn/executor.h"

namespace advstep {

/// Kernels of an operator that takes AdvanceStep's tensors.
struct AdvanceStepSource {
    const char* call;  // name of phase two
    AdvanceStepKernels (*standard)(bool lengths32, bool slots32, bool tables32);
    AdvanceStepKernels (*exact)(bool tables32);
    FaultReport (*describe)(const Fault& fault, const void* payload);
    LaunchCounts (*countStandard)(const void* payload);
    LaunchCounts (*countExact)(const void* payload);
};

/// Check, perhaps compare, commit.
KernelProgram MakeProgram(const AdvanceStepSource& source, const AdvanceStepKernels& kernels,
                          OnDivergence onDivergence, LaunchCounts (*count)(const void* payload));

/// One program per combination of element types and detector.
class AdvanceStepPrograms {
 public:
    explicit AdvanceStepPrograms(const AdvanceStepSource& source);

    const KernelProgram* Find(const AdvanceStepParams& params,
                              const OperatorEnvironment& environment) const;

 private:
    KernelProgram standard_[2][2][2][3];  // lengths, slots, tables; detector
    KernelProgram exact_[2];
};

/// Views of AdvanceStep's tensors. 161001: names the first null one.
Status AdvanceStepViews(const aclTensor* inputTokens, const aclTensor* sampledTokenIds,
                        const aclTensor* inputPositions, const aclTensor* seqLens,
                        const aclTensor* slotMapping, const aclTensor* blockTables,
                        AdvanceStepParams* params);

/// The rest of phase one, after the views: checks, plans, makes the executor.
Status PlanAdvanceStep(const AdvanceStepPrograms& programs, const AdvanceStepParams& params,
                       const Device& device, const PlanKey& key, uint64_t* workspaceSize,
                       aclOpExecutor** executor);

/// Slots of AdvanceStep's tensors, with an AdvanceStepArgs at `argsAt` of the payload, and those of
/// `more`.
template <size_t kMore = 0>
constexpr std::array<TensorSlot, 6 + kMore> AdvanceStepSlots(
    size_t argsAt, const std::array<TensorSlot, kMore>& more = {}) {
    using Args = AdvanceStepArgs;
    std::array<TensorSlot, 6 + kMore> slots = {{
        {"inputTokens", true, argsAt + offsetof(Args, inputTokens)},
        {"sampledTokenIds", false, argsAt + offsetof(Args, sampledTokenIds)},
        {"inputPositions", true, argsAt + offsetof(Args, inputPositions)},
        {"seqLens", true, argsAt + offsetof(Args, seqLens)},
        {"slotMapping", true, argsAt + offsetof(Args, slotMapping)},
        {"blockTables", false, argsAt + offsetof(Args, blockTables)},
    }};
    for (size_t index = 0; index < kMore; ++index) {
        slots[6 + index] = more[index];
    }
    return slots;
}

/// Collects a Plan; the views that are added must outlive it.
class AdvanceStepPlan {
 public:
    AdvanceStepPlan(const KernelProgram* program, const Device& device, int32_t coreCount,
                    int64_t rows, const PlanKey& key);

    /// What the tensors that are added are: static data, AdvanceStep's six first.
    void SetSlots(const TensorSlot* slots) { plan_.slots = slots; }
    void AddTensors(const AdvanceStepParams& params);
    void AddTensor(const TensorView& view) { views_[plan_.tensorCount++] = &view; }
    void SetWorkspace(uint64_t bytes, size_t addressAt);

    template <typename Payload>
    Status Make(const Payload& payload, uint64_t* workspaceSize, aclOpExecutor** executor) {
        static_assert(sizeof(Payload) <= aclOpExecutor::kMostPayload);
        plan_.launch.payloadBytes = sizeof(Payload);
        plan_.payload = &payload;
        plan_.views = views_;
        ADVSTEP_RETURN_IF_ERROR(MakeExecutor(plan_, executor));
        *workspaceSize = plan_.workspaceBytes;
        return {};
    }

 private:
    static constexpr int32_t kMostTensors = 10;

    const TensorView* views_[kMostTensors];
    Plan plan_;
};

}  // namespace advstep
