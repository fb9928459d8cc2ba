// SPDX-License-Identifier: Apache-2.0
// The operator AdvanceStepMulti, its kernel programs and its two calls.

#include "aclnnop/aclnn_advance_step_multi.h"

#include "advance_step/operator.h"
#include "op_host/advance_step/aclnn_advance_step_plan.h"
#include "op_host/advance_step/advance_step_multi_check.h"
#include "op_host/advance_step/advance_step_multi_fault.h"
#include "op_host/advance_step/advance_step_multi_tiling.h"
#include "op_kernel/advance_step/advance_step_multi_kernel.h"

using namespace advstep;

namespace {

struct AdvanceStepMulti {
    using Payload = AdvanceStepMultiPayload;
    static constexpr const char kName[] = "aclnnAdvanceStepMulti";
    static constexpr const auto& kTensors = kAdvanceStepMultiSignature;
    static constexpr const auto& kAttributes = kAdvanceStepAttributes;

    static const AdvanceStepPrograms& Programs() {
        static const AdvanceStepPrograms programs({kName, &MultiStandardKernels, &MultiExactKernels,
                                                   &op::InWords<&DescribeAdvanceStepMultiFault>,
                                                   &CountMultiStandard, &CountMultiExact});
        return programs;
    }
    static void Prepare() { (void)Programs(); }

    static op::Status Plan(const op::Request& request, int64_t numSeqs, int64_t numQueries,
                           int64_t blockSize, op::Planned<Payload>* plan) {
        const AdvanceStepParams params{request.views, numSeqs, numQueries, blockSize};
        const OperatorEnvironment environment(request.environment);
        ADVSTEP_OP_RETURN_IF_ERROR(CheckAdvanceStepMulti(params, environment));
        plan->payload.tiling = TileAdvanceStepMulti(params, environment);
        plan->program = Programs().Find(params, environment);
        plan->coreCount = plan->payload.tiling.rows.coreCount;
        plan->rows = params.numSeqs * plan->payload.tiling.steps;
        return {};
    }
};

}  // namespace

ADVSTEP_OPERATOR(aclnnAdvanceStepMulti, AdvanceStepMulti,
                 (const aclTensor* inputTokens, const aclTensor* sampledTokenIds,
                  const aclTensor* inputPositions, const aclTensor* seqLens,
                  const aclTensor* slotMapping, const aclTensor* blockTables, int64_t numSeqs,
                  int64_t numQueries, int64_t blockSize),
                 (inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables,
                  numSeqs, numQueries, blockSize))
