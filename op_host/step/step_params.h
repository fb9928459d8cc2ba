// SPDX-License-Identifier: Apache-2.0
// The signature of Step: the type, shape and address of each tensor.

#pragma once

#include <cstddef>
#include <cstdint>

#include "op_host/common/signature.h"
#include "op_kernel/step/step_tiling_data.h"

namespace advstep {

/// The dims of Step's tensors: docs/operators/step.md.
struct StepDim {
    enum : uint8_t {
        kNone,
        kOne,
        kBatch,
        kSlots,
        kTableWidth,
        kFree,
        kInputWidth,
        kPreWidth,
        kCount
    };
};

inline constexpr Shapes kOneNumber = {{"[1]", StepDim::kOne}};
inline constexpr Shapes kPerSlot = {{"[S]", StepDim::kSlots},
                                    {"[S, 1]", StepDim::kSlots, StepDim::kOne}};
inline constexpr Shapes kPerBatchSlot = {{"[B]", StepDim::kBatch},
                                         {"[B, 1]", StepDim::kBatch, StepDim::kOne}};
inline constexpr Shapes kStepTable = {{"[S, W]", StepDim::kSlots, StepDim::kTableWidth}};
inline constexpr Shapes kFreeBlocks = {{"[F]", StepDim::kFree}};
inline constexpr Shapes kInputRows = {{"[S, L]", StepDim::kSlots, StepDim::kInputWidth}};
inline constexpr Shapes kPreRows = {{"[S, P]", StepDim::kSlots, StepDim::kPreWidth}};

/// The tensors of Step.
inline constexpr Signature<22> kStepSignature = {{
    {"stopFlags", Access::kWritten, Only(ACL_BOOL), kPerSlot,
     offsetof(StepPayload, args.stopFlags)},
    {"seqLensThisTime", Access::kWritten, Only(ACL_INT32), kPerBatchSlot,
     offsetof(StepPayload, args.seqLensThisTime)},
    {"oriSeqLensEncoder", Access::kRead, Only(ACL_INT32), kPerSlot,
     offsetof(StepPayload, args.oriSeqLensEncoder)},
    {"seqLensEncoder", Access::kWritten, Only(ACL_INT32), kPerSlot,
     offsetof(StepPayload, args.seqLensEncoder)},
    {"seqLensDecoder", Access::kWritten, Only(ACL_INT32), kPerSlot,
     offsetof(StepPayload, args.seqLensDecoder)},
    {"blockTables", Access::kWritten, Only(ACL_INT32), kStepTable,
     offsetof(StepPayload, args.blockTables)},
    {"encoderBlockLens", Access::kWritten, Only(ACL_INT32), kPerSlot,
     offsetof(StepPayload, args.encoderBlockLens)},
    {"isBlockStep", Access::kWritten, Only(ACL_BOOL), kPerSlot,
     offsetof(StepPayload, args.isBlockStep)},
    {"stepBlockList", Access::kWritten, Only(ACL_INT32), kPerSlot,
     offsetof(StepPayload, args.stepBlockList)},
    {"stepLens", Access::kWritten, Only(ACL_INT32), kOneNumber,
     offsetof(StepPayload, args.stepLens)},
    {"recoverBlockList", Access::kWritten, Only(ACL_INT32), kPerSlot,
     offsetof(StepPayload, args.recoverBlockList)},
    {"recoverLens", Access::kWritten, Only(ACL_INT32), kOneNumber,
     offsetof(StepPayload, args.recoverLens)},
    {"needBlockList", Access::kWritten, Only(ACL_INT32), kPerSlot,
     offsetof(StepPayload, args.needBlockList)},
    {"needBlockLen", Access::kWritten, Only(ACL_INT32), kOneNumber,
     offsetof(StepPayload, args.needBlockLen)},
    {"usedListLen", Access::kWritten, Only(ACL_INT32), kPerSlot,
     offsetof(StepPayload, args.usedListLen)},
    {"freeList", Access::kWritten, Only(ACL_INT32), kFreeBlocks,
     offsetof(StepPayload, args.freeList)},
    {"freeListLen", Access::kWritten, Only(ACL_INT32), kOneNumber,
     offsetof(StepPayload, args.freeListLen)},
    {"inputIds", Access::kWritten, Only(ACL_INT64), kInputRows,
     offsetof(StepPayload, args.inputIds)},
    {"preIds", Access::kRead, Only(ACL_INT64), kPreRows, offsetof(StepPayload, args.preIds)},
    {"stepIdx", Access::kRead, Only(ACL_INT64), kPerSlot, offsetof(StepPayload, args.stepIdx)},
    {"nextTokens", Access::kRead, Only(ACL_INT64), kPerSlot,
     offsetof(StepPayload, args.nextTokens)},
    {"firstTokenIds", Access::kWritten, Only(ACL_INT64), kPerSlot,
     offsetof(StepPayload, args.firstTokenIds)},
}};

/// Places of the tensors that set the dims of a call.
struct StepTensor {
    static constexpr size_t kStopFlags = PlaceOf(kStepSignature, "stopFlags");
    static constexpr size_t kSeqLensThisTime = PlaceOf(kStepSignature, "seqLensThisTime");
    static constexpr size_t kBlockTables = PlaceOf(kStepSignature, "blockTables");
    static constexpr size_t kFreeList = PlaceOf(kStepSignature, "freeList");
    static constexpr size_t kInputIds = PlaceOf(kStepSignature, "inputIds");
    static constexpr size_t kPreIds = PlaceOf(kStepSignature, "preIds");
};

/// The arguments of phase one.
struct StepParams {
    const TensorView* tensors = nullptr;  // in signature order
    int64_t blockSize = 0;
};

/// B, S, W, F, L and P of a call.
struct StepDims {
    int64_t batch = 0;
    int64_t slots = 0;
    int64_t tableWidth = 0;
    int64_t freeCapacity = 0;
    int64_t inputWidth = 0;
    int64_t preWidth = 0;
};

}  // namespace advstep
