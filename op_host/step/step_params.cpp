#include "op_host/step/step_params.h"

namespace advstep {

const std::array<StepTensor, kStepTensors> kStepSignature = {{
    {"stopFlags", ACL_BOOL, true, StepShape::kSlots, offsetof(StepArgs, stopFlags)},
    {"seqLensThisTime", ACL_INT32, true, StepShape::kBatch, offsetof(StepArgs, seqLensThisTime)},
    {"oriSeqLensEncoder", ACL_INT32, false, StepShape::kSlots,
     offsetof(StepArgs, oriSeqLensEncoder)},
    {"seqLensEncoder", ACL_INT32, true, StepShape::kSlots, offsetof(StepArgs, seqLensEncoder)},
    {"seqLensDecoder", ACL_INT32, true, StepShape::kSlots, offsetof(StepArgs, seqLensDecoder)},
    {"blockTables", ACL_INT32, true, StepShape::kTable, offsetof(StepArgs, blockTables)},
    {"encoderBlockLens", ACL_INT32, true, StepShape::kSlots, offsetof(StepArgs, encoderBlockLens)},
    {"isBlockStep", ACL_BOOL, true, StepShape::kSlots, offsetof(StepArgs, isBlockStep)},
    {"stepBlockList", ACL_INT32, true, StepShape::kSlots, offsetof(StepArgs, stepBlockList)},
    {"stepLens", ACL_INT32, true, StepShape::kScalar, offsetof(StepArgs, stepLens)},
    {"recoverBlockList", ACL_INT32, true, StepShape::kSlots, offsetof(StepArgs, recoverBlockList)},
    {"recoverLens", ACL_INT32, true, StepShape::kScalar, offsetof(StepArgs, recoverLens)},
    {"needBlockList", ACL_INT32, true, StepShape::kSlots, offsetof(StepArgs, needBlockList)},
    {"needBlockLen", ACL_INT32, true, StepShape::kScalar, offsetof(StepArgs, needBlockLen)},
    {"usedListLen", ACL_INT32, true, StepShape::kSlots, offsetof(StepArgs, usedListLen)},
    {"freeList", ACL_INT32, true, StepShape::kFree, offsetof(StepArgs, freeList)},
    {"freeListLen", ACL_INT32, true, StepShape::kScalar, offsetof(StepArgs, freeListLen)},
    {"inputIds", ACL_INT64, true, StepShape::kInput, offsetof(StepArgs, inputIds)},
    {"preIds", ACL_INT64, false, StepShape::kPre, offsetof(StepArgs, preIds)},
    {"stepIdx", ACL_INT64, false, StepShape::kSlots, offsetof(StepArgs, stepIdx)},
    {"nextTokens", ACL_INT64, false, StepShape::kSlots, offsetof(StepArgs, nextTokens)},
    {"firstTokenIds", ACL_INT64, true, StepShape::kSlots, offsetof(StepArgs, firstTokenIds)},
}};

}  // namespace advstep
