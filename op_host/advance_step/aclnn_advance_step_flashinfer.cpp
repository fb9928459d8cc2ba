// SPDX-License-Identifier: Apache-2.0
// The two calls of AdvanceStepFlashInfer, its kernel programs and its plan.

#include "aclnnop/aclnn_advance_step_flashinfer.h"

#include <cstddef>

#include "op_host/advance_step/aclnn_advance_step_plan.h"
#include "op_host/advance_step/advance_step_flashinfer_check.h"
#include "op_host/advance_step/advance_step_flashinfer_fault.h"
#include "op_host/advance_step/advance_step_flashinfer_tiling.h"
#include "op_kernel/advance_step/advance_step_flashinfer_kernel.h"
#include "src/aclnn/run.h"
#include "src/aclnn/workspace_layout.h"
#include "src/base/at_load.h"
#include "src/base/boundary.h"

using namespace advstep;

namespace {

constexpr char kPhaseOne[] = "aclnnAdvanceStepFlashInferGetWorkspaceSize";
constexpr char kPhaseTwo[] = "aclnnAdvanceStepFlashInfer";

// One program for each combination of element types.
class Programs {
 public:
    static const KernelProgram* Find(const AdvanceStepParams& params) {
        return &All().programs_[IsNarrow(params, AdvanceStepTensor::kSeqLens)]
                               [IsNarrow(params, AdvanceStepTensor::kSlotMapping)]
                               [IsNarrow(params, AdvanceStepTensor::kBlockTables)];
    }

    static const Programs& All() {
        static const Programs programs;
        return programs;
    }

 private:
    Programs() {
        for (const bool lengths32 : {false, true}) {
            for (const bool slots32 : {false, true}) {
                for (const bool tables32 : {false, true}) {
                    const FlashInferKernels kernels =
                        FlashInferKernelsFor(lengths32, slots32, tables32);
                    programs_[lengths32][slots32][tables32] = {
                        kPhaseTwo,
                        3,
                        {{kernels.count, OnFault::kFail, true},
                         {kernels.check, OnFault::kFail, true},
                         {kernels.commit, OnFault::kFail, true}},
                        &InWords<&DescribeAdvanceStepFlashInferFault>,
                        &CountFlashInfer,
                        kernels.keptBytesPerRow};
                }
            }
        }
    }

    KernelProgram programs_[2][2][2];  // lengths, slots, tables
};

const AtLoad makeFlashInferPrograms(&Programs::All);

Status MakePlan(const AdvanceStepParams& params, const PlanRequest& request) {
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStepFlashInfer(params));
    AdvanceStepFlashInferPayload payload{};
    payload.tiling = TileAdvanceStepFlashInfer(params, request.environment);
    const int32_t coreCount = payload.tiling.rows.coreCount;
    WorkspaceLayout layout;
    layout.Book<int64_t>(coreCount);  // the only array, so at offset 0
    Plan plan;
    plan.launch.program = Programs::Find(params);
    plan.launch.coreCount = coreCount;
    plan.launch.rows = params.numSeqs;
    plan.workspaceBytes = layout.bytes();
    plan.workspaceAt = offsetof(AdvanceStepFlashInferPayload, workspace);
    return FinishPlan<kAdvanceStepFlashInferSignature>(request, payload, &plan);
}

}  // namespace

aclnnStatus aclnnAdvanceStepFlashInferGetWorkspaceSize(
    const aclTensor* inputTokens, const aclTensor* sampledTokenIds, const aclTensor* inputPositions,
    const aclTensor* seqLens, const aclTensor* slotMapping, const aclTensor* blockTables,
    const aclTensor* pagedKvIndices, const aclTensor* pagedKvIndptr,
    const aclTensor* pagedKvLastPageLen, const aclTensor* blockTableBound, int64_t numSeqs,
    int64_t numQueries, int64_t blockSize, uint64_t* workspaceSize, aclOpExecutor** executor) {
    return AclnnBoundary(kPhaseOne, ACLNN_ERR_INNER, [&] {
        return PhaseOne<kAdvanceStepFlashInferSignature>(
            kPhaseTwo, {workspaceSize, executor}, {numSeqs, numQueries, blockSize},
            [&](const PlanRequest& request) {
                return MakePlan({request.views, numSeqs, numQueries, blockSize}, request);
            },
            inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables,
            pagedKvIndices, pagedKvIndptr, pagedKvLastPageLen, blockTableBound);
    });
}

aclnnStatus aclnnAdvanceStepFlashInfer(void* workspace, uint64_t workspaceSize,
                                       aclOpExecutor* executor, aclrtStream stream) {
    return AclnnBoundary(kPhaseTwo, ACLNN_ERR_INNER, [&] {
        return RunExecutor(kPhaseTwo, workspace, workspaceSize, executor, stream);
    });
}
