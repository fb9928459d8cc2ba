// SPDX-License-Identifier: Apache-2.0
// The operator AdvanceStep and its two calls.

#include "aclnnop/aclnn_advance_step.h"

#include "advance_step/operator.h"
#include "op_host/advance_step/aclnn_advance_step_plan.h"
#include "op_host/advance_step/advance_step_fault.h"

using namespace advstep;

namespace {

struct AdvanceStep {
    using Payload = AdvanceStepPayload;
    static constexpr const char kName[] = "aclnnAdvanceStep";
    static constexpr const auto& kTensors = kAdvanceStepSignature;
    static constexpr const auto& kAttributes = kAdvanceStepAttributes;

    static const AdvanceStepPrograms& Programs() {
        static const AdvanceStepPrograms programs({kName, &StandardKernels, &ExactKernels,
                                                   &op::InWords<&DescribeAdvanceStepFault>,
                                                   &CountStandard, &CountExact});
        return programs;
    }
    static void Prepare() { (void)Programs(); }

    static op::Status Plan(const op::Request& request, int64_t numSeqs, int64_t numQueries,
                           int64_t blockSize, op::Planned<Payload>* plan) {
        return PlanAdvanceStep(Programs(), {request.views, numSeqs, numQueries, blockSize},
                               OperatorEnvironment(request.environment), plan);
    }
};

}  // namespace

ADVSTEP_OPERATOR(aclnnAdvanceStep, AdvanceStep,
                 (const aclTensor* inputTokens, const aclTensor* sampledTokenIds,
                  const aclTensor* inputPositions, const aclTensor* seqLens,
                  const aclTensor* slotMapping, const aclTensor* blockTables, int64_t numSeqs,
                  int64_t numQueries, int64_t blockSize),
                 (inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables,
                  numSeqs, numQueries, blockSize))
