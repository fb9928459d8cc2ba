// SPDX-License-Identifier: Apache-2.0
// The two calls of AdvanceStep.

#include "aclnnop/aclnn_advance_step.h"

#include "op_host/advance_step/aclnn_advance_step_plan.h"
#include "op_host/advance_step/advance_step_fault.h"
#include "src/aclnn/run.h"
#include "src/base/at_load.h"
#include "src/base/boundary.h"

using namespace advstep;

namespace {

constexpr char kPhaseOne[] = "aclnnAdvanceStepGetWorkspaceSize";
constexpr char kPhaseTwo[] = "aclnnAdvanceStep";

const AdvanceStepPrograms& Programs() {
    static const AdvanceStepPrograms programs({kPhaseTwo, &StandardKernels, &ExactKernels,
                                               &InWords<&DescribeAdvanceStepFault>, &CountStandard,
                                               &CountExact});
    return programs;
}

const AtLoad makeAdvanceStepPrograms(&Programs);

}  // namespace

aclnnStatus aclnnAdvanceStepGetWorkspaceSize(const aclTensor* inputTokens,
                                             const aclTensor* sampledTokenIds,
                                             const aclTensor* inputPositions,
                                             const aclTensor* seqLens, const aclTensor* slotMapping,
                                             const aclTensor* blockTables, int64_t numSeqs,
                                             int64_t numQueries, int64_t blockSize,
                                             uint64_t* workspaceSize, aclOpExecutor** executor) {
    return AclnnBoundary(kPhaseOne, ACLNN_ERR_INNER, [&] {
        return PhaseOne<kAdvanceStepSignature>(
            kPhaseTwo, {workspaceSize, executor}, {numSeqs, numQueries, blockSize},
            [&](const PlanRequest& request) {
                return PlanAdvanceStep(Programs(), {request.views, numSeqs, numQueries, blockSize},
                                       request);
            },
            inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables);
    });
}

aclnnStatus aclnnAdvanceStep(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                             aclrtStream stream) {
    return AclnnBoundary(kPhaseTwo, ACLNN_ERR_INNER, [&] {
        return RunExecutor(kPhaseTwo, workspace, workspaceSize, executor, stream);
    });
}
