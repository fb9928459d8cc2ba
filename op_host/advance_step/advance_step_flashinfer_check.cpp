#include "op_host/advance_step/advance_step_flashinfer_check.h"

#include "op_host/advance_step/advance_step_check.h"
#include "op_host/common/tensor_check.h"

namespace advstep {

Status CheckAdvanceStepFlashInfer(const AdvanceStepFlashInferParams& params) {
    const AdvanceStepParams& common = params.common;
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStepLayouts(common, Conformance::kVllm));
    ADVSTEP_RETURN_IF_ERROR(CheckLayout(params.pagedKvIndices, "pagedKvIndices", {ACL_INT32}));
    ADVSTEP_RETURN_IF_ERROR(CheckLayout(params.pagedKvIndptr, "pagedKvIndptr", {ACL_INT32}));
    ADVSTEP_RETURN_IF_ERROR(
        CheckLayout(params.pagedKvLastPageLen, "pagedKvLastPageLen", {ACL_INT32}));
    ADVSTEP_RETURN_IF_ERROR(CheckLayout(params.blockTableBound, "blockTableBound", {ACL_INT32}));
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStepAttributes(common, Conformance::kVllm));
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStepShapes(common));
    ADVSTEP_RETURN_IF_ERROR(CheckShape(params.pagedKvIndices, "pagedKvIndices",
                                       {{"[capacity]", {ExpectedShape::kAnyOrNone}}}));
    ADVSTEP_RETURN_IF_ERROR(CheckShape(params.pagedKvIndptr, "pagedKvIndptr",
                                       {{"[numSeqs + 1]", {common.numSeqs + 1}}}));
    ADVSTEP_RETURN_IF_ERROR(
        CheckPerSequence(params.pagedKvLastPageLen, "pagedKvLastPageLen", common.numSeqs));
    return CheckPerSequence(params.blockTableBound, "blockTableBound", common.numSeqs);
}

}  // namespace advstep
