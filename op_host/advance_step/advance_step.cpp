// SPDX-License-Identifier: Apache-2.0
// Checks, tiles and plans AdvanceStep, words its faults, and defines its two calls.

#include "op_host/advance_step/advance_step.h"

#include <fmt/core.h>

#include <algorithm>

#include "aclnnop/aclnn_advance_step.h"

namespace advstep {

op::Status CheckAdvanceStep(const AdvanceStepParams& params, const op::Environment& environment) {
    ADVSTEP_OP_RETURN_IF_ERROR(op::CheckLayouts<kAdvanceStepSignature>(
        params.tensors, TakesNarrowTensors(environment.conformance)));
    ADVSTEP_OP_RETURN_IF_ERROR(CheckAdvanceStepAttributes(params, environment.conformance));
    if (environment.conformance == op::Conformance::kExact) {
        return CheckAdvanceStepDeviceShapes(params);
    }
    return op::CheckShapes<kAdvanceStepSignature>(params.tensors, DimsOf<AdvanceStepDim>(params));
}

op::Status CheckAdvanceStepDeviceShapes(const AdvanceStepParams& params) {
    const auto dims = DimsOf<AdvanceStepDim>(params);
    for (size_t place = 0; place < kAdvanceStepSignature.size(); ++place) {
        const op::TensorArgument& argument = kAdvanceStepSignature[place];
        const op::TensorView& view = params.tensors[place];
        if (place == AdvanceStepTensor::kSampledTokenIds) {
            ADVSTEP_OP_RETURN_IF_ERROR(op::CheckShape(view, argument, dims.data()));
            continue;
        }
        const bool isEmpty =
            std::any_of(view.dims, view.dims + view.rank, [](int64_t dim) { return dim < 1; });
        if (view.rank < 1 || view.dims[0] != params.numSeqs || isEmpty) {
            return op::Error(op::kTilingError, argument.name, " has shape ",
                             op::ShapeText(view.dims, view.rank), "; expected [numSeqs, ...] = [",
                             params.numSeqs, ", ...] with elements");
        }
    }
    return {};
}

op::Status PlanAdvanceStep(const AdvanceStepPrograms& programs, const AdvanceStepParams& params,
                           const op::Environment& environment,
                           op::Planned<AdvanceStepPayload>* plan) {
    ADVSTEP_OP_RETURN_IF_ERROR(CheckAdvanceStep(params, environment));
    plan->payload.tiling = TileAdvanceStep(params, environment);
    plan->program = programs.Find(params, environment);
    plan->coreCount = plan->payload.tiling.coreCount;
    plan->rows = params.numSeqs;
    return {};
}

FaultReport DescribeAdvanceStepFault(const Fault& fault, const void* payload) {
    const auto& p = *static_cast<const AdvanceStepPayload*>(payload);
    return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
            AdvanceStepFaultWords("", fault.row, fault, p.tiling)};
}

namespace {

struct AdvanceStep {
    using Payload = AdvanceStepPayload;
    static constexpr const char kName[] = "aclnnAdvanceStep";
    static constexpr const auto& kTensors = kAdvanceStepSignature;
    static constexpr const auto& kAttributes = kAdvanceStepAttributes;
    static constexpr bool kChecksDims = true;

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
                               op::Environment(request.environment), plan);
    }
};

}  // namespace

}  // namespace advstep

ADVSTEP_OPERATOR(aclnnAdvanceStep, advstep::AdvanceStep,
                 (const aclTensor* inputTokens, const aclTensor* sampledTokenIds,
                  const aclTensor* inputPositions, const aclTensor* seqLens,
                  const aclTensor* slotMapping, const aclTensor* blockTables, int64_t numSeqs,
                  int64_t numQueries, int64_t blockSize),
                 (inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables,
                  numSeqs, numQueries, blockSize))
