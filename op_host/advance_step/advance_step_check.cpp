#include "op_host/advance_step/advance_step_check.h"

#include "op_host/advance_step/advance_step_infer_shape.h"
#include "op_host/common/tensor_check.h"

namespace advstep {
namespace {

constexpr int32_t kTilingError = 561002;      // ACLNN_ERR_INNER_TILING_ERROR, of a higher layer
constexpr int64_t kNumSeqsLimit = 200000000;  // numSeqs is below it

Status CheckLayout(const TensorView& view, const char* name,
                   std::initializer_list<aclDataType> dataTypes) {
    ADVSTEP_RETURN_IF_ERROR(CheckDataType(view, name, dataTypes));
    ADVSTEP_RETURN_IF_ERROR(CheckFormat(view, name));
    return CheckContiguous(view, name);
}

Status CheckLayouts(const AdvanceStepParams& params, Conformance conformance) {
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

Status CheckAttributes(const AdvanceStepParams& params, Conformance conformance) {
    if (params.numSeqs < 1 || params.numSeqs >= kNumSeqsLimit) {
        return Error(kTilingError, "numSeqs is {}; expected 1 <= numSeqs < {}", params.numSeqs,
                     kNumSeqsLimit);
    }
    const bool paddingNeeded = conformance != Conformance::kVllm;
    if (params.numQueries < 1 || params.numQueries > params.numSeqs ||
        (paddingNeeded && params.numQueries == params.numSeqs)) {
        return Error(kTilingError, "numQueries is {}; expected 1 <= numQueries {} numSeqs = {}",
                     params.numQueries, paddingNeeded ? "<" : "<=", params.numSeqs);
    }
    if (params.blockSize < 1) {
        return Error(kTilingError, "blockSize is {}; expected at least 1", params.blockSize);
    }
    return {};
}

}  // namespace

Status CheckAdvanceStep(const AdvanceStepParams& params, const OperatorEnvironment& environment) {
    ADVSTEP_RETURN_IF_ERROR(CheckLayouts(params, environment.conformance));
    ADVSTEP_RETURN_IF_ERROR(CheckAttributes(params, environment.conformance));
    return CheckAdvanceStepShapes(params);
}

}  // namespace advstep
