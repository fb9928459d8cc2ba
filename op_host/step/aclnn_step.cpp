// SPDX-License-Identifier: Apache-2.0
// The two calls of Step, its kernel programs, its workspace and its plan.

#include "aclnnop/aclnn_step.h"

#include <cstddef>

#include "op_host/common/aclnn_phase_one.h"
#include "op_host/step/step_check.h"
#include "op_host/step/step_fault.h"
#include "op_host/step/step_tiling.h"
#include "op_kernel/step/step_bits.h"
#include "op_kernel/step/step_kernels.h"
#include "src/aclnn/run.h"
#include "src/aclnn/workspace_layout.h"
#include "src/base/boundary.h"

using namespace advstep;

namespace {

constexpr char kPhaseOne[] = "aclnnStepGetWorkspaceSize";
constexpr char kPhaseTwo[] = "aclnnStep";

constexpr KernelProgram kProgram = {kPhaseTwo,
                                    5,
                                    {{&StepCollect, OnFault::kFail, true},
                                     {&StepDecide, OnFault::kFail, true},
                                     {&StepGiveBack, OnFault::kFail, true},
                                     {&StepHandOut, OnFault::kFail, true},
                                     {&StepRecover, OnFault::kFail, true}},
                                    &InWords<&DescribeStepFault>,
                                    &CountStep};

// A launch of one core needs no phases: there is no other core to wait for.
constexpr KernelProgram kOneCoreProgram = {kPhaseTwo,
                                           1,
                                           {{&StepOnOneCore, OnFault::kFail, true}},
                                           &InWords<&DescribeStepFault>,
                                           &CountStep};

constexpr KernelProgram kEmptyProgram = {
    kPhaseTwo, 0, {}, &InWords<&DescribeStepFault>, &CountStep};

const KernelProgram& ProgramFor(int32_t cores) {
    return cores == 0 ? kEmptyProgram : cores == 1 ? kOneCoreProgram : kProgram;
}

StepWorkspaceOffsets BookWorkspace(const StepTiling& tiling, WorkspaceLayout* layout) {
    StepWorkspaceOffsets offsets{};
    if (tiling.batch == 0) {
        return offsets;
    }
    offsets.plan = layout->Book<StepPlan>(1);
    offsets.counts = layout->Book<StepCoreCounts>(tiling.coreCount);
    const int64_t words = WordsOf(tiling.batch);
    offsets.releases = layout->Book<uint64_t>(words);
    offsets.needs = layout->Book<uint64_t>(words);
    offsets.served = layout->Book<uint64_t>(words);
    offsets.waiting = layout->Book<uint64_t>(words);
    offsets.nextCandidate = layout->Book<int32_t>(tiling.batch);
    offsets.firstCandidate = layout->Book<int32_t>(tiling.tableWidth + 2);
    offsets.victims = layout->Book<StepVictim>(tiling.batch);
    offsets.recoveries = layout->Book<StepRecovery>(tiling.batch);
    return offsets;
}

Status MakePlan(const StepParams& params, const PlanRequest& request) {
    StepDims dims;
    ADVSTEP_RETURN_IF_ERROR(CheckStep(params, &dims));
    StepPayload payload{};
    payload.tiling = TileStep(dims, params.blockSize, request.environment);
    WorkspaceLayout layout;
    payload.offsets = BookWorkspace(payload.tiling, &layout);
    Plan plan;
    plan.launch.program = &ProgramFor(payload.tiling.coreCount);
    plan.launch.coreCount = payload.tiling.coreCount;
    plan.launch.rows = dims.batch;
    plan.workspaceBytes = layout.bytes();
    plan.workspaceAt = layout.bytes() > 0 ? int64_t{offsetof(StepPayload, workspace)} : -1;
    plan.allDistinct = true;
    return FinishPlan<kStepSignature>(request, payload, &plan);
}

}  // namespace

aclnnStatus aclnnStepGetWorkspaceSize(
    const aclTensor* stopFlags, const aclTensor* seqLensThisTime,
    const aclTensor* oriSeqLensEncoder, const aclTensor* seqLensEncoder,
    const aclTensor* seqLensDecoder, const aclTensor* blockTables,
    const aclTensor* encoderBlockLens, const aclTensor* isBlockStep, const aclTensor* stepBlockList,
    const aclTensor* stepLens, const aclTensor* recoverBlockList, const aclTensor* recoverLens,
    const aclTensor* needBlockList, const aclTensor* needBlockLen, const aclTensor* usedListLen,
    const aclTensor* freeList, const aclTensor* freeListLen, const aclTensor* inputIds,
    const aclTensor* preIds, const aclTensor* stepIdx, const aclTensor* nextTokens,
    const aclTensor* firstTokenIds, int64_t blockSize, int64_t /*encoderDecoderBlockNum*/,
    uint64_t* workspaceSize, aclOpExecutor** executor) {
    return AclnnBoundary(kPhaseOne, ACLNN_ERR_INNER, [&] {
        return PhaseOne<kStepSignature>(
            kPhaseTwo, {workspaceSize, executor}, {blockSize},
            [&](const PlanRequest& request) {
                return MakePlan({request.views, blockSize}, request);
            },
            stopFlags, seqLensThisTime, oriSeqLensEncoder, seqLensEncoder, seqLensDecoder,
            blockTables, encoderBlockLens, isBlockStep, stepBlockList, stepLens, recoverBlockList,
            recoverLens, needBlockList, needBlockLen, usedListLen, freeList, freeListLen, inputIds,
            preIds, stepIdx, nextTokens, firstTokenIds);
    });
}

aclnnStatus aclnnStep(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                      aclrtStream stream) {
    return AclnnBoundary(kPhaseTwo, ACLNN_ERR_INNER, [&] {
        return RunExecutor(kPhaseTwo, workspace, workspaceSize, executor, stream);
    });
}
