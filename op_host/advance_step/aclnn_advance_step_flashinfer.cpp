// SPDX-License-Identifier: Apache-2.0
// The operator AdvanceStepFlashInfer, its kernel programs and its two calls.

#include "aclnnop/aclnn_advance_step_flashinfer.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "advance_step/operator.h"
#include "op_host/advance_step/aclnn_advance_step_plan.h"
#include "op_host/advance_step/advance_step_flashinfer_check.h"
#include "op_host/advance_step/advance_step_flashinfer_fault.h"
#include "op_host/advance_step/advance_step_flashinfer_tiling.h"
#include "op_kernel/advance_step/advance_step_flashinfer_kernel.h"

using namespace advstep;

namespace {

constexpr char kCall[] = "aclnnAdvanceStepFlashInfer";

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
                        kCall,
                        3,
                        {{kernels.count, OnFault::kFail, true},
                         {kernels.check, OnFault::kFail, true},
                         {kernels.commit, OnFault::kFail, true}},
                        &op::InWords<&DescribeAdvanceStepFlashInferFault>,
                        &CountFlashInfer,
                        kernels.keptBytesPerRow};
                }
            }
        }
    }

    KernelProgram programs_[2][2][2];  // lengths, slots, tables
};

struct AdvanceStepFlashInfer {
    using Payload = AdvanceStepFlashInferPayload;
    static constexpr const auto& kName = kCall;
    static constexpr const auto& kTensors = kAdvanceStepFlashInferSignature;
    static constexpr const auto& kAttributes = kAdvanceStepAttributes;

    static void Prepare() { (void)Programs::All(); }

    static op::Status Plan(const op::Request& request, int64_t numSeqs, int64_t numQueries,
                           int64_t blockSize, op::Planned<Payload>* plan) {
        const AdvanceStepParams params{request.views, numSeqs, numQueries, blockSize};
        ADVSTEP_OP_RETURN_IF_ERROR(CheckAdvanceStepFlashInfer(params));
        plan->payload.tiling =
            TileAdvanceStepFlashInfer(params, OperatorEnvironment(request.environment));
        plan->coreCount = plan->payload.tiling.rows.coreCount;
        op::WorkspaceLayout layout;
        layout.Book<int64_t>(plan->coreCount);  // the only array, so at offset 0
        plan->program = Programs::Find(params);
        plan->rows = params.numSeqs;
        plan->workspaceBytes = layout.bytes();
        plan->workspaceAt = offsetof(Payload, workspace);
        return {};
    }

    // A query may copy all its block ids, and four of them take about as long as a row without any.
    static int64_t WorkOf(const op::Planned<Payload>& plan) {
        constexpr int64_t kBlocksPerRow = 4;
        const AdvanceStepTiling& rows = plan.payload.tiling.rows;
        int64_t copied = 0;
        return __builtin_mul_overflow(rows.numQueries, rows.maxBlocks / kBlocksPerRow, &copied)
                   ? std::numeric_limits<int64_t>::max()
                   : std::max(plan.rows, copied);
    }
};

}  // namespace

ADVSTEP_OPERATOR(aclnnAdvanceStepFlashInfer, AdvanceStepFlashInfer,
                 (const aclTensor* inputTokens, const aclTensor* sampledTokenIds,
                  const aclTensor* inputPositions, const aclTensor* seqLens,
                  const aclTensor* slotMapping, const aclTensor* blockTables,
                  const aclTensor* pagedKvIndices, const aclTensor* pagedKvIndptr,
                  const aclTensor* pagedKvLastPageLen, const aclTensor* blockTableBound,
                  int64_t numSeqs, int64_t numQueries, int64_t blockSize),
                 (inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables,
                  pagedKvIndices, pagedKvIndptr, pagedKvLastPageLen, blockTableBound, numSeqs,
                  numQueries, blockSize))
