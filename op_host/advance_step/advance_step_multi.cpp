// SPDX-License-Identifier: Apache-2.0
// Checks, tiles and plans AdvanceStepMulti, words its faults, and defines its two calls.

#include "op_host/advance_step/advance_step_multi.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "aclnnop/aclnn_advance_step_multi.h"
#include "op_kernel/advance_step/advance_step_multi_kernel.h"

namespace advstep {

op::Status CheckAdvanceStepMulti(const AdvanceStepParams& params,
                                 const op::Environment& environment) {
    ADVSTEP_OP_RETURN_IF_ERROR(op::CheckLayouts<kAdvanceStepMultiSignature>(
        params.tensors, TakesNarrowTensors(environment.conformance)));
    ADVSTEP_OP_RETURN_IF_ERROR(CheckAdvanceStepAttributes(params, environment.conformance));
    auto dims = DimsOf<AdvanceStepMultiDim>(params);
    dims[AdvanceStepMultiDim::kAnySteps] = op::kAtLeastOne;
    // This dim is for slotMapping. It is read from sampledTokenIds, whose shape is checked first.
    dims[AdvanceStepMultiDim::kSteps] =
        op::DimOrZero(params.tensors[AdvanceStepTensor::kSampledTokenIds], 0);
    return op::CheckShapes<kAdvanceStepMultiSignature>(params.tensors, dims);
}

AdvanceStepMultiTiling TileAdvanceStepMulti(const AdvanceStepParams& params,
                                            const op::Environment& environment) {
    return {TileAdvanceStep(params, environment),
            params.tensors[AdvanceStepTensor::kSampledTokenIds].dims[0]};
}

FaultReport DescribeAdvanceStepMultiFault(const Fault& fault, const void* payload) {
    const auto& p = *static_cast<const AdvanceStepMultiPayload*>(payload);
    const auto at = AdvanceStepMultiRow::Of(p.tiling, fault.row);
    return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
            AdvanceStepFaultWords(fmt::format("step {}, ", at.step), at.row, fault, p.tiling.rows)};
}

namespace {

struct AdvanceStepMulti {
    using Payload = AdvanceStepMultiPayload;
    static constexpr const char kName[] = "aclnnAdvanceStepMulti";
    static constexpr const auto& kTensors = kAdvanceStepMultiSignature;
    static constexpr const auto& kAttributes = kAdvanceStepAttributes;
    static constexpr bool kChecksDims = true;

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
        const op::Environment environment(request.environment);
        ADVSTEP_OP_RETURN_IF_ERROR(CheckAdvanceStepMulti(params, environment));
        plan->payload.tiling = TileAdvanceStepMulti(params, environment);
        plan->program = Programs().Find(params, environment);
        plan->coreCount = plan->payload.tiling.rows.coreCount;
        plan->rows = params.numSeqs * plan->payload.tiling.steps;
        return {};
    }
};

}  // namespace

}  // namespace advstep

ADVSTEP_OPERATOR(aclnnAdvanceStepMulti, advstep::AdvanceStepMulti,
                 (const aclTensor* inputTokens, const aclTensor* sampledTokenIds,
                  const aclTensor* inputPositions, const aclTensor* seqLens,
                  const aclTensor* slotMapping, const aclTensor* blockTables, int64_t numSeqs,
                  int64_t numQueries, int64_t blockSize),
                 (inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables,
                  numSeqs, numQueries, blockSize))
