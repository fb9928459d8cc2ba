#include "aclnnop/aclnn_advance_step_multi.h"

#include <cstddef>

#include "op_host/advance_step/aclnn_advance_step_plan.h"
#include "op_host/advance_step/advance_step_multi_check.h"
#include "op_host/advance_step/advance_step_multi_fault.h"
#include "op_host/advance_step/advance_step_multi_tiling.h"
#include "op_kernel/advance_step/advance_step_multi_kernel.h"
#include "src/aclnn/run.h"
#include "src/base/boundary.h"

using namespace advstep;

namespace {

constexpr char kPhaseOne[] = "aclnnAdvanceStepMultiGetWorkspaceSize";
constexpr char kPhaseTwo[] = "aclnnAdvanceStepMulti";

const AdvanceStepPrograms& Programs() {
    static const AdvanceStepPrograms programs({kPhaseTwo, &MultiStandardKernels, &MultiExactKernels,
                                               &DescribeAdvanceStepMultiFault, &CountMultiStandard,
                                               &CountMultiExact});
    return programs;
}

Status MakePlan(const AdvanceStepParams& params, const Device& device, const PlanKey& key,
                uint64_t* workspaceSize, aclOpExecutor** executor) {
    const OperatorEnvironment environment =
        EnvironmentOf(device.settings(), PlanningVectorCores(device));
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStepMulti(params, environment));
    AdvanceStepMultiPayload payload{};
    payload.tiling = TileAdvanceStepMulti(params, environment);
    AdvanceStepPlan plan(Programs().Find(params, environment), device,
                         payload.tiling.rows.coreCount, params.numSeqs * payload.tiling.steps, key);
    static constexpr auto kSlots = AdvanceStepSlots(offsetof(AdvanceStepMultiPayload, args));
    plan.SetSlots(kSlots.data());
    plan.AddTensors(params);
    return plan.Make(payload, workspaceSize, executor);
}

}  // namespace

aclnnStatus aclnnAdvanceStepMultiGetWorkspaceSize(
    const aclTensor* inputTokens, const aclTensor* sampledTokenIds, const aclTensor* inputPositions,
    const aclTensor* seqLens, const aclTensor* slotMapping, const aclTensor* blockTables,
    int64_t numSeqs, int64_t numQueries, int64_t blockSize, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
    return AclnnBoundary(kPhaseOne, ACLNN_ERR_INNER, [&]() -> Status {
        const PlanKey key(
            kPhaseTwo,
            {inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables},
            {numSeqs, numQueries, blockSize});
        if (PlannedBefore(key, workspaceSize, executor)) {
            return {};
        }
        AdvanceStepParams params;
        ADVSTEP_RETURN_IF_ERROR(AdvanceStepViews(inputTokens, sampledTokenIds, inputPositions,
                                                 seqLens, slotMapping, blockTables, &params));
        ADVSTEP_RETURN_IF_ERROR(RequireOutput(workspaceSize, "workspaceSize"));
        ADVSTEP_RETURN_IF_ERROR(RequireOutput(executor, "executor"));
        params.numSeqs = numSeqs;
        params.numQueries = numQueries;
        params.blockSize = blockSize;
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(PlanningDevice(&device));
        return MakePlan(params, *device, key, workspaceSize, executor);
    });
}

aclnnStatus aclnnAdvanceStepMulti(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                  aclrtStream stream) {
    return AclnnBoundary(kPhaseTwo, ACLNN_ERR_INNER, [&] {
        return RunExecutor(kPhaseTwo, workspace, workspaceSize, executor, stream);
    });
}
