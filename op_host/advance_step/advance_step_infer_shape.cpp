#include "op_host/advance_step/advance_step_infer_shape.h"

#include "op_host/common/tensor_check.h"

namespace advstep {

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

}  // namespace advstep
