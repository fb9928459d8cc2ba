// SPDX-License-Identifier: Apache-2.0
// The operator Step: table, check, tiling and words of faults.

#pragma once

#include <cstddef>
#include <cstdint>

#include "advance_step/operator.h"
#include "op_kernel/common/kernel.h"
#include "op_kernel/step/step_tiling_data.h"

namespace advstep {

namespace op = ::advance_step::op;

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

inline constexpr op::Shapes kOneNumber = {{"[1]", StepDim::kOne}};
inline constexpr op::Shapes kPerSlot = {{"[S]", StepDim::kSlots},
                                        {"[S, 1]", StepDim::kSlots, StepDim::kOne}};
inline constexpr op::Shapes kPerBatchSlot = {{"[B]", StepDim::kBatch},
                                             {"[B, 1]", StepDim::kBatch, StepDim::kOne}};
inline constexpr op::Shapes kStepTable = {{"[S, W]", StepDim::kSlots, StepDim::kTableWidth}};
inline constexpr op::Shapes kFreeBlocks = {{"[F]", StepDim::kFree}};
inline constexpr op::Shapes kInputRows = {{"[S, L]", StepDim::kSlots, StepDim::kInputWidth}};
inline constexpr op::Shapes kPreRows = {{"[S, P]", StepDim::kSlots, StepDim::kPreWidth}};

/// The tensors of Step.
inline constexpr op::Signature<22> kStepSignature = {{
    {"stopFlags", op::Access::kWritten, op::Only(ACL_BOOL), kPerSlot,
     offsetof(StepPayload, args.stopFlags)},
    {"seqLensThisTime", op::Access::kWritten, op::Only(ACL_INT32), kPerBatchSlot,
     offsetof(StepPayload, args.seqLensThisTime)},
    {"oriSeqLensEncoder", op::Access::kRead, op::Only(ACL_INT32), kPerSlot,
     offsetof(StepPayload, args.oriSeqLensEncoder)},
    {"seqLensEncoder", op::Access::kWritten, op::Only(ACL_INT32), kPerSlot,
     offsetof(StepPayload, args.seqLensEncoder)},
    {"seqLensDecoder", op::Access::kWritten, op::Only(ACL_INT32), kPerSlot,
     offsetof(StepPayload, args.seqLensDecoder)},
    {"blockTables", op::Access::kWritten, op::Only(ACL_INT32), kStepTable,
     offsetof(StepPayload, args.blockTables)},
    {"encoderBlockLens", op::Access::kWritten, op::Only(ACL_INT32), kPerSlot,
     offsetof(StepPayload, args.encoderBlockLens)},
    {"isBlockStep", op::Access::kWritten, op::Only(ACL_BOOL), kPerSlot,
     offsetof(StepPayload, args.isBlockStep)},
    {"stepBlockList", op::Access::kWritten, op::Only(ACL_INT32), kPerSlot,
     offsetof(StepPayload, args.stepBlockList)},
    {"stepLens", op::Access::kWritten, op::Only(ACL_INT32), kOneNumber,
     offsetof(StepPayload, args.stepLens)},
    {"recoverBlockList", op::Access::kWritten, op::Only(ACL_INT32), kPerSlot,
     offsetof(StepPayload, args.recoverBlockList)},
    {"recoverLens", op::Access::kWritten, op::Only(ACL_INT32), kOneNumber,
     offsetof(StepPayload, args.recoverLens)},
    {"needBlockList", op::Access::kWritten, op::Only(ACL_INT32), kPerSlot,
     offsetof(StepPayload, args.needBlockList)},
    {"needBlockLen", op::Access::kWritten, op::Only(ACL_INT32), kOneNumber,
     offsetof(StepPayload, args.needBlockLen)},
    {"usedListLen", op::Access::kWritten, op::Only(ACL_INT32), kPerSlot,
     offsetof(StepPayload, args.usedListLen)},
    {"freeList", op::Access::kWritten, op::Only(ACL_INT32), kFreeBlocks,
     offsetof(StepPayload, args.freeList)},
    {"freeListLen", op::Access::kWritten, op::Only(ACL_INT32), kOneNumber,
     offsetof(StepPayload, args.freeListLen)},
    {"inputIds", op::Access::kWritten, op::Only(ACL_INT64), kInputRows,
     offsetof(StepPayload, args.inputIds)},
    {"preIds", op::Access::kRead, op::Only(ACL_INT64), kPreRows,
     offsetof(StepPayload, args.preIds)},
    {"stepIdx", op::Access::kRead, op::Only(ACL_INT64), kPerSlot,
     offsetof(StepPayload, args.stepIdx)},
    {"nextTokens", op::Access::kRead, op::Only(ACL_INT64), kPerSlot,
     offsetof(StepPayload, args.nextTokens)},
    {"firstTokenIds", op::Access::kWritten, op::Only(ACL_INT64), kPerSlot,
     offsetof(StepPayload, args.firstTokenIds)},
}};

/// Places of the tensors that set the dims of a call.
struct StepTensor {
    static constexpr size_t kStopFlags = op::PlaceOf(kStepSignature, "stopFlags");
    static constexpr size_t kSeqLensThisTime = op::PlaceOf(kStepSignature, "seqLensThisTime");
    static constexpr size_t kBlockTables = op::PlaceOf(kStepSignature, "blockTables");
    static constexpr size_t kFreeList = op::PlaceOf(kStepSignature, "freeList");
    static constexpr size_t kInputIds = op::PlaceOf(kStepSignature, "inputIds");
    static constexpr size_t kPreIds = op::PlaceOf(kStepSignature, "preIds");
};

/// The arguments of phase one.
struct StepParams {
    const op::TensorView* tensors = nullptr;  // in signature order
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

/// Reports the first rule that the arguments break: dtype, format and layout of every tensor
/// (161002), then blockSize and shapes (561002). *dims is set on success.
op::Status CheckStep(const StepParams& params, StepDims* dims);

/// Distributes the slots over the cores: consecutive slots, as evenly as possible, without an idle
/// core. An empty batch has no core. A pure function.
StepTiling TileStep(const StepDims& dims, int64_t blockSize, const op::Environment& environment);

/// Describes a fault of the Step kernels (StepFault) with its slot, values and expectation. The
/// code is ACL_ERROR_RT_RESOURCE_ALLOC_FAIL for no progress, and ACL_ERROR_RT_VECTOR_CORE_EXCEPTION
/// for every other fault.
FaultReport DescribeStepFault(const Fault& fault, const void* payload);

}  // namespace advstep
