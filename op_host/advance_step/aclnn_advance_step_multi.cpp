// SPDX-License-Identifier: Apache-2.0
// The two calls of AdvanceStepMulti, its kernel programs and its plan.

#include "aclnnop/aclnn_advance_step_multi.h"

#include "op_host/advance_step/aclnn_advance_step_plan.h"
#include "op_host/advance_step/advance_step_multi_check.h"
#include "op_host/advance_step/advance_step_multi_fault.h"
#include "op_host/advance_step/advance_step_multi_tiling.h"
#include "op_kernel/advance_step/advance_step_multi_kernel.h"
#include "src/aclnn/run.h"
#include "src/base/at_load.h"
#include "src/base/boundary.h"

using namespace advstep;

namespace {

constexpr char kPhaseOne[] = "aclnnAdvanceStepMultiGetWorkspaceSize";
constexpr char kPhaseTwo[] = "aclnnAdvanceStepMulti";

const AdvanceStepPrograms& Programs() {
    static const AdvanceStepPrograms programs({kPhaseTwo, &MultiStandardKernels, &MultiExactKernels,
                                               &InWords<&DescribeAdvanceStepMultiFault>,
                                               &CountMultiStandard, &CountMultiExact});
    return programs;
}

const AtLoad makeMultiPrograms(&Programs);

Status MakePlan(const AdvanceStepParams& params, const PlanRequest& request) {
    const OperatorEnvironment& environment = request.environment;
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStepMulti(params, environment));
    AdvanceStepMultiPayload payload{};
    payload.tiling = TileAdvanceStepMulti(params, environment);
    Plan plan;
    plan.launch.program = Programs().Find(params, environment);
    plan.launch.coreCount = payload.tiling.rows.coreCount;
    plan.launch.rows = params.numSeqs * payload.tiling.steps;
    return FinishPlan<kAdvanceStepMultiSignature>(request, payload, &plan);
}

}  // namespace

aclnnStatus aclnnAdvanceStepMultiGetWorkspaceSize(
    const aclTensor* inputTokens, const aclTensor* sampledTokenIds, const aclTensor* inputPositions,
    const aclTensor* seqLens, const aclTensor* slotMapping, const aclTensor* blockTables,
    int64_t numSeqs, int64_t numQueries, int64_t blockSize, uint64_t* workspaceSize,
    aclOpExecutor** executor) {
    return AclnnBoundary(kPhaseOne, ACLNN_ERR_INNER, [&] {
        return PhaseOne<kAdvanceStepMultiSignature>(
            kPhaseTwo, {workspaceSize, executor}, {numSeqs, numQueries, blockSize},
            [&](const PlanRequest& request) {
                return MakePlan({request.views, numSeqs, numQueries, blockSize}, request);
            },
            inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables);
    });
}

aclnnStatus aclnnAdvanceStepMulti(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                  aclrtStream stream) {
    return AclnnBoundary(kPhaseTwo, ACLNN_ERR_INNER, [&] {
        return RunExecutor(kPhaseTwo, workspace, workspaceSize, executor, stream);
    });
}
