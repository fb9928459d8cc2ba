#include "op_host/advance_step/advance_step_check.h"

#include "op_host/common/error_codes.h"
#include "op_host/common/tensor_check.h"

namespace advstep {
namespace {

constexpr int64_t kNumSeqsLimit = 200000000;  // numSeqs is below it

}  // namespace

Status CheckAdvanceStepLayouts(const AdvanceStepParams& params, Conformance conformance) {
    const auto checkNarrow = [&](const TensorView& view, const char* name) {
        return conformance == Conformance::kVllm ? CheckLayout(view, name, {ACL_INT64, ACL_INT32})
                                                 : CheckLayout(view, name, {ACL_INT64});
    };
    ADVSTEP_RETURN_IF_ERROR(CheckLayout(params.inputTokens, "inputTokens", {ACL_INT64}));
    ADVSTEP_RETURN_IF_ERROR(CheckLayout(params.sampledTokenIds, "sampledTokenIds", {ACL_INT64}));
    ADVSTEP_RETURN_IF_ERROR(CheckLayout(params.inputPositions, "inputPositions", {ACL_INT64}));
    ADVSTEP_RETURN_IF_ERROR(checkNarrow(params.seqLens, "seqLens"));
    ADVSTEP_RETURN_IF_ERROR(checkNarrow(params.slotMapping, "slotMapping"));
    ADVSTEP_RETURN_IF_ERROR(
        CheckDataType(params.blockTables, "blockTables", {ACL_INT64, ACL_INT32}));
    ADVSTEP_RETURN_IF_ERROR(CheckFormat(params.blockTables, "blockTables"));
    return CheckContiguousRows(params.blockTables, "blockTables");
}

Status CheckNumSeqs(int64_t numSeqs) {
    return numSeqs >= 1 && numSeqs < kNumSeqsLimit
               ? Status()
               : Error(kTilingError, "numSeqs is {}; expected 1 <= numSeqs < {}", numSeqs,
                       kNumSeqsLimit);
}

Status CheckBlockSize(int64_t blockSize) {
    return blockSize >= 1 ? Status()
                          : Error(kTilingError, "blockSize is {}; expected at least 1", blockSize);
}

Status CheckAdvanceStepAttributes(const AdvanceStepParams& params, Conformance conformance) {
    ADVSTEP_RETURN_IF_ERROR(CheckNumSeqs(params.numSeqs));
    const bool paddingNeeded = conformance != Conformance::kVllm;
    if (params.numQueries < 1 || params.numQueries > params.numSeqs ||
        (paddingNeeded && params.numQueries == params.numSeqs)) {
        return Error(kTilingError, "numQueries is {}; expected 1 <= numQueries {} numSeqs = {}",
                     params.numQueries, paddingNeeded ? "<" : "<=", params.numSeqs);
    }
    return CheckBlockSize(params.blockSize);
}

Status CheckAdvanceStepShapes(const AdvanceStepParams& params) {
    const auto checkPerSequence = [&](const TensorView& view, const char* name) {
        return CheckPerSequence(view, name, params.numSeqs);
    };
    ADVSTEP_RETURN_IF_ERROR(checkPerSequence(params.inputTokens, "inputTokens"));
    ADVSTEP_RETURN_IF_ERROR(CheckShape(params.sampledTokenIds, "sampledTokenIds",
                                       {{"[numQueries, 1]", {params.numQueries, 1}}}));
    ADVSTEP_RETURN_IF_ERROR(checkPerSequence(params.inputPositions, "inputPositions"));
    ADVSTEP_RETURN_IF_ERROR(checkPerSequence(params.seqLens, "seqLens"));
    ADVSTEP_RETURN_IF_ERROR(checkPerSequence(params.slotMapping, "slotMapping"));
    return CheckShape(params.blockTables, "blockTables",
                      {{"[numSeqs, maxBlocks]", {params.numSeqs, ExpectedShape::kAny}}});
}

Status CheckAdvanceStep(const AdvanceStepParams& params, const OperatorEnvironment& environment) {
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStepLayouts(params, environment.conformance));
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStepAttributes(params, environment.conformance));
    return CheckAdvanceStepShapes(params);
}

}  // namespace advstep
