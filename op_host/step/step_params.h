#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "op_kernel/step/step_tiling_data.h"
#include "src/base/tensor_view.h"

namespace advstep {

/// The shapes that Step's tensors have: docs/operators/step.md.
enum class StepShape {
    kSlots,   // [S] or [S, 1]
    kBatch,   // [B] or [B, 1]
    kScalar,  // [1]
    kTable,   // [S, W]
    kFree,    // [F]
    kInput,   // [S, L]
    kPre,     // [S, P]
};

/// One row of Step's signature.
struct StepTensor {
    const char* name;
    aclDataType dataType;
    bool written;
    StepShape shape;
    size_t addressAt;  // in StepArgs
};

inline constexpr size_t kStepTensors = 22;

/// All of them, in signature order.
extern const std::array<StepTensor, kStepTensors> kStepSignature;

/// Places in the signature that others are measured by.
enum StepTensorIndex : size_t {
    kStopFlags = 0,
    kSeqLensThisTime = 1,
    kBlockTables = 5,
    kFreeList = 15,
    kInputIds = 17,
    kPreIds = 18,
};

/// The arguments of one aclnnStepGetWorkspaceSize call.
struct StepParams {
    std::array<TensorView, kStepTensors> tensors;
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
