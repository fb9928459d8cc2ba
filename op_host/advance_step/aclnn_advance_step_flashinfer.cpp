#include "aclnnop/aclnn_advance_step_flashinfer.h"

#include <cstddef>

#include "op_host/advance_step/aclnn_advance_step_plan.h"
#include "op_host/advance_step/advance_step_flashinfer_check.h"
#include "op_host/advance_step/advance_step_flashinfer_fault.h"
#include "op_host/advance_step/advance_step_flashinfer_tiling.h"
#include "op_kernel/advance_step/advance_step_flashinfer_kernel.h"
#include "src/aclnn/run.h"
#include "src/aclnn/tensor.h"
#include "src/aclnn/workspace_layout.h"
#include "src/base/boundary.h"

using namespace advstep;

namespace {

constexpr char kPhaseOne[] = "aclnnAdvanceStepFlashInferGetWorkspaceSize";
constexpr char kPhaseTwo[] = "aclnnAdvanceStepFlashInfer";

// A program per combination of element types, made once.
class Programs {
 public:
    static const KernelProgram* Find(const AdvanceStepParams& params) {
        static const Programs programs;
        return &programs.programs_[params.seqLens.dataType == ACL_INT32]
                                  [params.slotMapping.dataType == ACL_INT32]
                                  [params.blockTables.dataType == ACL_INT32];
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
                        &DescribeAdvanceStepFlashInferFault,
                        &CountFlashInfer,
                        kernels.keptBytesPerRow};
                }
            }
        }
    }

    KernelProgram programs_[2][2][2];  // lengths, slots, tables
};

using Args = AdvanceStepFlashInferArgs;
constexpr size_t kArgs = offsetof(AdvanceStepFlashInferPayload, args);
constexpr auto kSlots =
    AdvanceStepSlots<4>(kArgs + offsetof(Args, common),
                        {{{"pagedKvIndices", true, kArgs + offsetof(Args, pagedKvIndices)},
                          {"pagedKvIndptr", true, kArgs + offsetof(Args, pagedKvIndptr)},
                          {"pagedKvLastPageLen", true, kArgs + offsetof(Args, pagedKvLastPageLen)},
                          {"blockTableBound", true, kArgs + offsetof(Args, blockTableBound)}}});

Status MakePlan(const AdvanceStepFlashInferParams& params, const Device& device, const PlanKey& key,
                uint64_t* workspaceSize, aclOpExecutor** executor) {
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStepFlashInfer(params));
    AdvanceStepFlashInferPayload payload{};
    payload.tiling = TileAdvanceStepFlashInfer(
        params, EnvironmentOf(device.settings(), PlanningVectorCores(device)));
    const int32_t coreCount = payload.tiling.rows.coreCount;
    WorkspaceLayout layout;
    layout.Book<int64_t>(coreCount);  // the only array, so at offset 0
    AdvanceStepPlan plan(Programs::Find(params.common), device, coreCount, params.common.numSeqs,
                         key);
    plan.SetSlots(kSlots.data());
    plan.AddTensors(params.common);
    plan.AddTensor(params.pagedKvIndices);
    plan.AddTensor(params.pagedKvIndptr);
    plan.AddTensor(params.pagedKvLastPageLen);
    plan.AddTensor(params.blockTableBound);
    plan.SetWorkspace(layout.bytes(), offsetof(AdvanceStepFlashInferPayload, workspace));
    return plan.Make(payload, workspaceSize, executor);
}

}  // namespace

aclnnStatus aclnnAdvanceStepFlashInferGetWorkspaceSize(
    const aclTensor* inputTokens, const aclTensor* sampledTokenIds, const aclTensor* inputPositions,
    const aclTensor* seqLens, const aclTensor* slotMapping, const aclTensor* blockTables,
    const aclTensor* pagedKvIndices, const aclTensor* pagedKvIndptr,
    const aclTensor* pagedKvLastPageLen, const aclTensor* blockTableBound, int64_t numSeqs,
    int64_t numQueries, int64_t blockSize, uint64_t* workspaceSize, aclOpExecutor** executor) {
    return AclnnBoundary(kPhaseOne, ACLNN_ERR_INNER, [&]() -> Status {
        const PlanKey key(
            kPhaseTwo,
            {inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables,
             pagedKvIndices, pagedKvIndptr, pagedKvLastPageLen, blockTableBound},
            {numSeqs, numQueries, blockSize});
        if (PlannedBefore(key, workspaceSize, executor)) {
            return {};
        }
        AdvanceStepFlashInferParams params;
        ADVSTEP_RETURN_IF_ERROR(AdvanceStepViews(inputTokens, sampledTokenIds, inputPositions,
                                                 seqLens, slotMapping, blockTables,
                                                 &params.common));
        ADVSTEP_RETURN_IF_ERROR(ViewOf(pagedKvIndices, "pagedKvIndices", &params.pagedKvIndices));
        ADVSTEP_RETURN_IF_ERROR(ViewOf(pagedKvIndptr, "pagedKvIndptr", &params.pagedKvIndptr));
        ADVSTEP_RETURN_IF_ERROR(
            ViewOf(pagedKvLastPageLen, "pagedKvLastPageLen", &params.pagedKvLastPageLen));
        ADVSTEP_RETURN_IF_ERROR(
            ViewOf(blockTableBound, "blockTableBound", &params.blockTableBound));
        ADVSTEP_RETURN_IF_ERROR(RequireOutput(workspaceSize, "workspaceSize"));
        ADVSTEP_RETURN_IF_ERROR(RequireOutput(executor, "executor"));
        params.common.numSeqs = numSeqs;
        params.common.numQueries = numQueries;
        params.common.blockSize = blockSize;
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(PlanningDevice(&device));
        return MakePlan(params, *device, key, workspaceSize, executor);
    });
}

aclnnStatus aclnnAdvanceStepFlashInfer(void* workspace, uint64_t workspaceSize,
                                       aclOpExecutor* executor, aclrtStream stream) {
    return AclnnBoundary(kPhaseTwo, ACLNN_ERR_INNER, [&] {
        return RunExecutor(kPhaseTwo, workspace, workspaceSize, executor, stream);
    });
}
