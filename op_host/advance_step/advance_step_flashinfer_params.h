// SPDX-License-Identifier: Apache-2.0
// The signature of AdvanceStepFlashInfer: the type, shape and address of each tensor.

#pragma once

#include <cstddef>
#include <cstdint>

#include "op_host/advance_step/advance_step_params.h"
#include "op_kernel/advance_step/advance_step_flashinfer_tiling_data.h"

namespace advstep {

struct AdvanceStepFlashInferDim : AdvanceStepDim {
    enum : uint8_t { kCapacity = AdvanceStepDim::kCount, kPlaces, kCount };
};

inline constexpr Shapes kPages = {{"[capacity]", AdvanceStepFlashInferDim::kCapacity}};
inline constexpr Shapes kPagePlaces = {{"[numSeqs + 1]", AdvanceStepFlashInferDim::kPlaces}};

/// The tensors of AdvanceStepFlashInfer.
inline constexpr Signature<10> kAdvanceStepFlashInferSignature = {{
    {"inputTokens", Access::kWritten, Only(ACL_INT64), kPerSequence,
     offsetof(AdvanceStepFlashInferPayload, args.common.inputTokens)},
    {"sampledTokenIds", Access::kRead, Only(ACL_INT64), kOnePerQuery,
     offsetof(AdvanceStepFlashInferPayload, args.common.sampledTokenIds)},
    {"inputPositions", Access::kWritten, Only(ACL_INT64), kPerSequence,
     offsetof(AdvanceStepFlashInferPayload, args.common.inputPositions)},
    {"seqLens", Access::kWritten, Either(ACL_INT64, ACL_INT32), kPerSequence,
     offsetof(AdvanceStepFlashInferPayload, args.common.seqLens)},
    {"slotMapping", Access::kWritten, Either(ACL_INT64, ACL_INT32), kPerSequence,
     offsetof(AdvanceStepFlashInferPayload, args.common.slotMapping)},
    {"blockTables", Access::kRead, Either(ACL_INT64, ACL_INT32), kBlockTable,
     offsetof(AdvanceStepFlashInferPayload, args.common.blockTables), Layout::kContiguousRows},
    {"pagedKvIndices", Access::kWritten, Only(ACL_INT32), kPages,
     offsetof(AdvanceStepFlashInferPayload, args.pagedKvIndices)},
    {"pagedKvIndptr", Access::kWritten, Only(ACL_INT32), kPagePlaces,
     offsetof(AdvanceStepFlashInferPayload, args.pagedKvIndptr)},
    {"pagedKvLastPageLen", Access::kWritten, Only(ACL_INT32), kPerSequence,
     offsetof(AdvanceStepFlashInferPayload, args.pagedKvLastPageLen)},
    {"blockTableBound", Access::kWritten, Only(ACL_INT32), kPerSequence,
     offsetof(AdvanceStepFlashInferPayload, args.blockTableBound)},
}};
static_assert(BeginsWith(kAdvanceStepFlashInferSignature, kAdvanceStepSignature));

struct AdvanceStepFlashInferTensor {
    static constexpr size_t kPagedKvIndices =
        PlaceOf(kAdvanceStepFlashInferSignature, "pagedKvIndices");
};

}  // namespace advstep
