#include "aclnnop/aclnn_advance_step_v2.h"

#include <cstddef>

#include "op_host/advance_step/aclnn_advance_step_plan.h"
#include "op_host/advance_step/advance_step_fault.h"
#include "op_host/advance_step/advance_step_v2_check.h"
#include "op_host/advance_step/advance_step_v2_fault.h"
#include "op_host/advance_step/advance_step_v2_tiling.h"
#include "op_kernel/advance_step/advance_step_v2_kernel.h"
#include "src/aclnn/run.h"
#include "src/aclnn/tensor.h"
#include "src/base/boundary.h"

using namespace advstep;

namespace {

constexpr char kPhaseOne[] = "aclnnAdvanceStepV2GetWorkspaceSize";
constexpr char kPhaseTwo[] = "aclnnAdvanceStepV2";

// Without spec tokens the call is an AdvanceStep, under the name that the caller knows.
const AdvanceStepPrograms& ProgramsWithoutSpec() {
    static const AdvanceStepPrograms programs({kPhaseTwo, &StandardKernels, &ExactKernels,
                                               &DescribeAdvanceStepFault, &CountStandard,
                                               &CountExact});
    return programs;
}

// V2 has its tensors' dtypes but for blockTables: a program per dtype of that and detector.
class V2Programs {
 public:
    static const KernelProgram* Find(const AdvanceStepV2Params& params,
                                     const OperatorEnvironment& environment) {
        static const V2Programs programs;
        const bool tables32 = params.common.blockTables.dataType == ACL_INT32;
        return environment.conformance == Conformance::kExact
                   ? &programs.exact_[tables32]
                   : &programs.wide_[tables32][static_cast<int>(environment.onDivergence)];
    }

 private:
    V2Programs() {
        AdvanceStepSource source{};
        source.call = kPhaseTwo;
        source.describe = &DescribeAdvanceStepV2Fault;
        for (const bool tables32 : {false, true}) {
            exact_[tables32] =
                MakeProgram(source, V2ExactKernels(tables32), OnDivergence::kIgnore, &CountV2);
            for (const OnDivergence on :
                 {OnDivergence::kIgnore, OnDivergence::kWarn, OnDivergence::kError}) {
                wide_[tables32][static_cast<int>(on)] =
                    MakeProgram(source, V2Kernels(tables32), on, &CountV2);
            }
        }
    }

    KernelProgram wide_[2][3];
    KernelProgram exact_[2];
};

constexpr size_t kArgs = offsetof(AdvanceStepV2Payload, args);
constexpr auto kSlots = AdvanceStepSlots<2>(
    kArgs + offsetof(AdvanceStepV2Args, common),
    {{{"specToken", false, kArgs + offsetof(AdvanceStepV2Args, specToken)},
      {"acceptedNum", false, kArgs + offsetof(AdvanceStepV2Args, acceptedNum)}}});

Status MakePlan(const AdvanceStepV2Params& params, const Device& device, const PlanKey& key,
                uint64_t* workspaceSize, aclOpExecutor** executor) {
    const OperatorEnvironment environment =
        EnvironmentOf(device.settings(), PlanningVectorCores(device));
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStepV2(params));
    AdvanceStepV2Payload payload{};
    payload.tiling = TileAdvanceStepV2(params, environment);
    AdvanceStepPlan plan(V2Programs::Find(params, environment), device, payload.tiling.coreCount,
                         payload.tiling.rows, key);
    plan.SetSlots(kSlots.data());
    plan.AddTensors(params.common);
    plan.AddTensor(params.specToken);
    plan.AddTensor(params.acceptedNum);
    return plan.Make(payload, workspaceSize, executor);
}

}  // namespace

aclnnStatus aclnnAdvanceStepV2GetWorkspaceSize(
    const aclTensor* inputTokens, const aclTensor* sampledTokenIds, const aclTensor* inputPositions,
    const aclTensor* seqLens, const aclTensor* slotMapping, const aclTensor* blockTables,
    const aclTensor* specToken, const aclTensor* acceptedNum, int64_t numSeqs, int64_t numQueries,
    int64_t blockSize, uint64_t* workspaceSize, aclOpExecutor** executor) {
    return AclnnBoundary(kPhaseOne, ACLNN_ERR_INNER, [&]() -> Status {
        const bool speculative = specToken != nullptr || acceptedNum != nullptr;
        const PlanKey key = speculative
                                ? PlanKey(kPhaseTwo,
                                          {inputTokens, sampledTokenIds, inputPositions, seqLens,
                                           slotMapping, blockTables, specToken, acceptedNum},
                                          {numSeqs, numQueries, blockSize})
                                : PlanKey(kPhaseTwo,
                                          {inputTokens, sampledTokenIds, inputPositions, seqLens,
                                           slotMapping, blockTables},
                                          {numSeqs, numQueries, blockSize});
        if (PlannedBefore(key, workspaceSize, executor)) {
            return {};
        }
        AdvanceStepV2Params params;
        ADVSTEP_RETURN_IF_ERROR(AdvanceStepViews(inputTokens, sampledTokenIds, inputPositions,
                                                 seqLens, slotMapping, blockTables,
                                                 &params.common));
        if (speculative) {
            ADVSTEP_RETURN_IF_ERROR(ViewOf(specToken, "specToken", &params.specToken));
            ADVSTEP_RETURN_IF_ERROR(ViewOf(acceptedNum, "acceptedNum", &params.acceptedNum));
        }
        ADVSTEP_RETURN_IF_ERROR(RequireOutput(workspaceSize, "workspaceSize"));
        ADVSTEP_RETURN_IF_ERROR(RequireOutput(executor, "executor"));
        params.common.numSeqs = numSeqs;
        params.common.numQueries = numQueries;
        params.common.blockSize = blockSize;
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(PlanningDevice(&device));
        return speculative ? MakePlan(params, *device, key, workspaceSize, executor)
                           : PlanAdvanceStep(ProgramsWithoutSpec(), params.common, *device, key,
                                             workspaceSize, executor);
    });
}

aclnnStatus aclnnAdvanceStepV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                               aclrtStream stream) {
    return AclnnBoundary(kPhaseTwo, ACLNN_ERR_INNER, [&] {
        return RunExecutor(kPhaseTwo, workspace, workspaceSize, executor, stream);
    });
}
