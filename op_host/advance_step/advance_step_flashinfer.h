// SPDX-License-Identifier: Apache-2.0
// The operator AdvanceStepFlashInfer: table, check, tiling and words of faults.

#pragma once

#include <cstddef>
#include <cstdint>

#include "op_host/advance_step/advance_step_family.h"
#include "op_kernel/advance_step/advance_step_flashinfer_kernel.h"

namespace advstep {

struct AdvanceStepFlashInferDim : AdvanceStepDim {
    enum : uint8_t { kCapacity = AdvanceStepDim::kCount, kPlaces, kCount };
};

inline constexpr op::Shapes kPages = {{"[capacity]", AdvanceStepFlashInferDim::kCapacity}};
inline constexpr op::Shapes kPagePlaces = {{"[numSeqs + 1]", AdvanceStepFlashInferDim::kPlaces}};

/// The tensors of AdvanceStepFlashInfer.
inline constexpr op::Signature<10> kAdvanceStepFlashInferSignature = {{
    {"inputTokens", op::Access::kWritten, op::Only(ACL_INT64), kPerSequence,
     offsetof(AdvanceStepFlashInferPayload, args.common.inputTokens)},
    {"sampledTokenIds", op::Access::kRead, op::Only(ACL_INT64), kOnePerQuery,
     offsetof(AdvanceStepFlashInferPayload, args.common.sampledTokenIds)},
    {"inputPositions", op::Access::kWritten, op::Only(ACL_INT64), kPerSequence,
     offsetof(AdvanceStepFlashInferPayload, args.common.inputPositions)},
    {"seqLens", op::Access::kWritten, op::Either(ACL_INT64, ACL_INT32), kPerSequence,
     offsetof(AdvanceStepFlashInferPayload, args.common.seqLens)},
    {"slotMapping", op::Access::kWritten, op::Either(ACL_INT64, ACL_INT32), kPerSequence,
     offsetof(AdvanceStepFlashInferPayload, args.common.slotMapping)},
    {"blockTables", op::Access::kRead, op::Either(ACL_INT64, ACL_INT32), kBlockTable,
     offsetof(AdvanceStepFlashInferPayload, args.common.blockTables), op::Layout::kContiguousRows},
    {"pagedKvIndices", op::Access::kWritten, op::Only(ACL_INT32), kPages,
     offsetof(AdvanceStepFlashInferPayload, args.pagedKvIndices)},
    {"pagedKvIndptr", op::Access::kWritten, op::Only(ACL_INT32), kPagePlaces,
     offsetof(AdvanceStepFlashInferPayload, args.pagedKvIndptr)},
    {"pagedKvLastPageLen", op::Access::kWritten, op::Only(ACL_INT32), kPerSequence,
     offsetof(AdvanceStepFlashInferPayload, args.pagedKvLastPageLen)},
    {"blockTableBound", op::Access::kWritten, op::Only(ACL_INT32), kPerSequence,
     offsetof(AdvanceStepFlashInferPayload, args.blockTableBound)},
}};
static_assert(op::BeginsWith(kAdvanceStepFlashInferSignature, kAdvanceStepSignature));

struct AdvanceStepFlashInferTensor {
    static constexpr size_t kPagedKvIndices =
        op::PlaceOf(kAdvanceStepFlashInferSignature, "pagedKvIndices");
};

/// Reports the first rule that the arguments break, in the order of CheckAdvanceStep. The rules are
/// those of conformance vllm, whatever the conformance of the device is.
op::Status CheckAdvanceStepFlashInfer(const AdvanceStepParams& params);

/// Distributes the rows of checked arguments over the cores as TileAdvanceStep does. A pure
/// function.
AdvanceStepFlashInferTiling TileAdvanceStepFlashInfer(const AdvanceStepParams& params,
                                                      const op::Environment& environment);

/// Describes a fault of the AdvanceStepFlashInfer kernels (AdvanceStepFault) with its query, values
/// and expectation.
FaultReport DescribeAdvanceStepFlashInferFault(const Fault& fault, const void* payload);

}  // namespace advstep
