// SPDX-License-Identifier: Apache-2.0
// The signature of AdvanceStepV2: the type, shape and address of each tensor.

#pragma once

#include <cstddef>
#include <cstdint>

#include "op_host/advance_step/advance_step_params.h"
#include "op_kernel/advance_step/advance_step_v2_tiling_data.h"

namespace advstep {

/// k is the number of spec tokens of a query.
struct AdvanceStepV2Dim : AdvanceStepDim {
    enum : uint8_t { kSpecTokens = AdvanceStepDim::kCount, kPerQuery, kRows, kCount };
};

inline constexpr Shapes kPerRow = {
    {"[numSeqs * (k + 1)]", AdvanceStepV2Dim::kRows},
    {"[numSeqs, k + 1]", AdvanceStepDim::kNumSeqs, AdvanceStepV2Dim::kPerQuery}};
inline constexpr Shapes kRowsOfQueries = {
    {"[numSeqs, k + 1]", AdvanceStepDim::kNumSeqs, AdvanceStepV2Dim::kPerQuery}};
inline constexpr Shapes kSpecOfQueries = {
    {"[numSeqs, k]", AdvanceStepDim::kNumSeqs, AdvanceStepV2Dim::kSpecTokens}};
inline constexpr Shapes kFlatPerSequence = {{"[numSeqs]", AdvanceStepDim::kNumSeqs}};

/// The tensors of AdvanceStepV2 with spec tokens. specToken says how many there are.
inline constexpr Signature<8> kAdvanceStepV2Signature = {{
    {"inputTokens", Access::kWritten, Only(ACL_INT64), kPerRow,
     offsetof(AdvanceStepV2Payload, args.common.inputTokens)},
    {"sampledTokenIds", Access::kRead, Only(ACL_INT64), kRowsOfQueries,
     offsetof(AdvanceStepV2Payload, args.common.sampledTokenIds)},
    {"inputPositions", Access::kWritten, Only(ACL_INT64), kPerRow,
     offsetof(AdvanceStepV2Payload, args.common.inputPositions)},
    {"seqLens", Access::kWritten, Only(ACL_INT64), kPerRow,
     offsetof(AdvanceStepV2Payload, args.common.seqLens)},
    {"slotMapping", Access::kWritten, Only(ACL_INT64), kPerRow,
     offsetof(AdvanceStepV2Payload, args.common.slotMapping)},
    {"blockTables", Access::kRead, Either(ACL_INT64, ACL_INT32), kBlockTable,
     offsetof(AdvanceStepV2Payload, args.common.blockTables), Layout::kContiguousRows},
    {"specToken", Access::kRead, Only(ACL_INT64), kSpecOfQueries,
     offsetof(AdvanceStepV2Payload, args.specToken)},
    {"acceptedNum", Access::kRead, Only(ACL_INT64), kFlatPerSequence,
     offsetof(AdvanceStepV2Payload, args.acceptedNum)},
}};
static_assert(BeginsWith(kAdvanceStepV2Signature, kAdvanceStepSignature));

struct AdvanceStepV2Tensor {
    static constexpr size_t kSpecToken = PlaceOf(kAdvanceStepV2Signature, "specToken");
};

}  // namespace advstep
