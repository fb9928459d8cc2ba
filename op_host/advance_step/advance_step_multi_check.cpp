#include "op_host/advance_step/advance_step_multi_check.h"

#include "op_host/advance_step/advance_step_check.h"
#include "op_host/common/tensor_check.h"

namespace advstep {
namespace {

Status CheckShapes(const AdvanceStepParams& params) {
    const int64_t seqs = params.numSeqs;
    constexpr int64_t kAny = ExpectedShape::kAny;
    ADVSTEP_RETURN_IF_ERROR(CheckPerSequence(params.inputTokens, "inputTokens", seqs));
    ADVSTEP_RETURN_IF_ERROR(CheckShape(params.sampledTokenIds, "sampledTokenIds",
                                       {{"[steps, numQueries]", {kAny, params.numQueries}},
                                        {"[steps, numQueries, 1]", {kAny, params.numQueries, 1}}}));
    const int64_t steps = params.sampledTokenIds.dims[0];
    ADVSTEP_RETURN_IF_ERROR(CheckPerSequence(params.inputPositions, "inputPositions", seqs));
    ADVSTEP_RETURN_IF_ERROR(CheckPerSequence(params.seqLens, "seqLens", seqs));
    ADVSTEP_RETURN_IF_ERROR(CheckShape(
        params.slotMapping, "slotMapping",
        {{"[steps, numSeqs]", {steps, seqs}}, {"[steps, numSeqs, 1]", {steps, seqs, 1}}}));
    return CheckShape(params.blockTables, "blockTables", {{"[numSeqs, maxBlocks]", {seqs, kAny}}});
}

}  // namespace

Status CheckAdvanceStepMulti(const AdvanceStepParams& params,
                             const OperatorEnvironment& environment) {
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStepLayouts(params, environment.conformance));
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStepAttributes(params, environment.conformance));
    return CheckShapes(params);
}

}  // namespace advstep
