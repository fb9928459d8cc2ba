// SPDX-License-Identifier: Apache-2.0
// The operator Step, its kernel programs, its workspace and its two calls.

#include "aclnnop/aclnn_step.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "advance_step/operator.h"
#include "op_host/step/step_check.h"
#include "op_host/step/step_fault.h"
#include "op_host/step/step_tiling.h"
#include "op_kernel/step/step_bits.h"
#include "op_kernel/step/step_kernels.h"

using namespace advstep;

namespace {

constexpr char kCall[] = "aclnnStep";

constexpr GaugedProgram kProgram = {{kCall,
                                     5,
                                     {{&StepCollect, OnFault::kFail, true},
                                      {&StepDecide, OnFault::kFail, true},
                                      {&StepGiveBack, OnFault::kFail, true},
                                      {&StepHandOut, OnFault::kFail, true},
                                      {&StepRecover, OnFault::kFail, true}},
                                     &op::InWords<&DescribeStepFault>,
                                     &CountStep},
                                    &IsBriefStep};

// A launch of one core needs no phases: there is no other core to wait for.
constexpr GaugedProgram kOneCoreProgram = {{kCall,
                                            1,
                                            {{&StepOnOneCore, OnFault::kFail, true}},
                                            &op::InWords<&DescribeStepFault>,
                                            &CountStep},
                                           &IsBriefStep};

constexpr GaugedProgram kEmptyProgram = {
    {kCall, 0, {}, &op::InWords<&DescribeStepFault>, &CountStep}, &IsBriefStep};

const GaugedProgram& ProgramFor(const StepTiling& tiling) {
    switch (tiling.coreCount) {
        case 0:
            return kEmptyProgram;
        case 1:
            return kOneCoreProgram;
        default:
            return kProgram;
    }
}

StepWorkspaceOffsets BookWorkspace(const StepTiling& tiling, op::WorkspaceLayout* layout) {
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

struct Step {
    using Payload = StepPayload;
    static constexpr const auto& kName = kCall;
    static constexpr const auto& kTensors = kStepSignature;
    static constexpr const char* kAttributes[] = {"blockSize"};
    static constexpr bool kIsGauged = true;

    static op::Status Plan(const op::Request& request, int64_t blockSize,
                           op::Planned<Payload>* plan) {
        StepDims dims;
        ADVSTEP_OP_RETURN_IF_ERROR(CheckStep({request.views, blockSize}, &dims));
        StepPayload& payload = plan->payload;
        payload.tiling = TileStep(dims, blockSize, OperatorEnvironment(request.environment));
        op::WorkspaceLayout layout;
        payload.offsets = BookWorkspace(payload.tiling, &layout);
        plan->program = &ProgramFor(payload.tiling);
        plan->coreCount = payload.tiling.coreCount;
        plan->rows = dims.batch;
        plan->workspaceBytes = layout.bytes();
        plan->workspaceAt = offsetof(StepPayload, workspace);
        plan->allDistinct = true;
        return {};
    }
};

}  // namespace

// No result depends on encoderDecoderBlockNum.
ADVSTEP_OPERATOR(aclnnStep, Step,
                 (const aclTensor* stopFlags, const aclTensor* seqLensThisTime,
                  const aclTensor* oriSeqLensEncoder, const aclTensor* seqLensEncoder,
                  const aclTensor* seqLensDecoder, const aclTensor* blockTables,
                  const aclTensor* encoderBlockLens, const aclTensor* isBlockStep,
                  const aclTensor* stepBlockList, const aclTensor* stepLens,
                  const aclTensor* recoverBlockList, const aclTensor* recoverLens,
                  const aclTensor* needBlockList, const aclTensor* needBlockLen,
                  const aclTensor* usedListLen, const aclTensor* freeList,
                  const aclTensor* freeListLen, const aclTensor* inputIds, const aclTensor* preIds,
                  const aclTensor* stepIdx, const aclTensor* nextTokens,
                  const aclTensor* firstTokenIds, int64_t blockSize,
                  int64_t /*encoderDecoderBlockNum*/),
                 (stopFlags, seqLensThisTime, oriSeqLensEncoder, seqLensEncoder, seqLensDecoder,
                  blockTables, encoderBlockLens, isBlockStep, stepBlockList, stepLens,
                  recoverBlockList, recoverLens, needBlockList, needBlockLen, usedListLen, freeList,
                  freeListLen, inputIds, preIds, stepIdx, nextTokens, firstTokenIds, blockSize))
