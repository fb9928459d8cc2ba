#include "op_host/advance_step/advance_step_v2_check.h"

#include "op_host/advance_step/advance_step_check.h"
#include "op_host/common/error_codes.h"
#include "op_host/common/tensor_check.h"

namespace advstep {
namespace {

Status CheckShapes(const AdvanceStepV2Params& params) {
    const AdvanceStepParams& common = params.common;
    const int64_t seqs = common.numSeqs;
    // First of all: its second dimension says what the others must be.
    ADVSTEP_RETURN_IF_ERROR(
        CheckShape(params.specToken, "specToken", {{"[numSeqs, k]", {seqs, ExpectedShape::kAny}}}));
    const int64_t perQuery = params.specToken.dims[1] + 1;
    const ExpectedShape flat{"[numSeqs * (k + 1)]", {seqs * perQuery}};
    const ExpectedShape matrix{"[numSeqs, k + 1]", {seqs, perQuery}};
    const auto checkRows = [&](const TensorView& view, const char* name) {
        return CheckShape(view, name, {flat, matrix});
    };
    ADVSTEP_RETURN_IF_ERROR(checkRows(common.inputTokens, "inputTokens"));
    ADVSTEP_RETURN_IF_ERROR(CheckShape(common.sampledTokenIds, "sampledTokenIds", {matrix}));
    ADVSTEP_RETURN_IF_ERROR(checkRows(common.inputPositions, "inputPositions"));
    ADVSTEP_RETURN_IF_ERROR(checkRows(common.seqLens, "seqLens"));
    ADVSTEP_RETURN_IF_ERROR(checkRows(common.slotMapping, "slotMapping"));
    ADVSTEP_RETURN_IF_ERROR(CheckShape(common.blockTables, "blockTables",
                                       {{"[numSeqs, maxBlocks]", {seqs, ExpectedShape::kAny}}}));
    return CheckShape(params.acceptedNum, "acceptedNum", {{"[numSeqs]", {seqs}}});
}

}  // namespace

Status CheckAdvanceStepV2(const AdvanceStepV2Params& params) {
    const AdvanceStepParams& common = params.common;
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStepLayouts(common, Conformance::kStandard));
    ADVSTEP_RETURN_IF_ERROR(CheckLayout(params.specToken, "specToken", {ACL_INT64}));
    ADVSTEP_RETURN_IF_ERROR(CheckLayout(params.acceptedNum, "acceptedNum", {ACL_INT64}));
    ADVSTEP_RETURN_IF_ERROR(CheckNumSeqs(common.numSeqs));
    if (common.numQueries != common.numSeqs) {
        return Error(kTilingError, "numQueries is {}; expected numSeqs = {} with spec tokens",
                     common.numQueries, common.numSeqs);
    }
    ADVSTEP_RETURN_IF_ERROR(CheckBlockSize(common.blockSize));
    return CheckShapes(params);
}

}  // namespace advstep
