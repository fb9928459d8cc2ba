// SPDX-License-Identifier: Apache-2.0
// The signature of AdvanceStepMulti: the type, shape and address of each tensor.

#pragma once

#include <cstddef>
#include <cstdint>

#include "op_host/advance_step/advance_step_params.h"
#include "op_kernel/advance_step/advance_step_multi_tiling_data.h"

namespace advstep {

struct AdvanceStepMultiDim : AdvanceStepDim {
    enum : uint8_t { kAnySteps = AdvanceStepDim::kCount, kSteps, kCount };
};

inline constexpr Shapes kPerStepAndQuery = {
    {"[steps, numQueries]", AdvanceStepMultiDim::kAnySteps, AdvanceStepDim::kNumQueries},
    {"[steps, numQueries, 1]", AdvanceStepMultiDim::kAnySteps, AdvanceStepDim::kNumQueries,
     AdvanceStepDim::kOne}};
inline constexpr Shapes kPerStepAndSequence = {
    {"[steps, numSeqs]", AdvanceStepMultiDim::kSteps, AdvanceStepDim::kNumSeqs},
    {"[steps, numSeqs, 1]", AdvanceStepMultiDim::kSteps, AdvanceStepDim::kNumSeqs,
     AdvanceStepDim::kOne}};

/// The tensors of AdvanceStepMulti. sampledTokenIds says how many steps there are.
inline constexpr Signature<6> kAdvanceStepMultiSignature = {{
    {"inputTokens", Access::kWritten, Only(ACL_INT64), kPerSequence,
     offsetof(AdvanceStepMultiPayload, args.inputTokens)},
    {"sampledTokenIds", Access::kRead, Only(ACL_INT64), kPerStepAndQuery,
     offsetof(AdvanceStepMultiPayload, args.sampledTokenIds)},
    {"inputPositions", Access::kWritten, Only(ACL_INT64), kPerSequence,
     offsetof(AdvanceStepMultiPayload, args.inputPositions)},
    {"seqLens", Access::kWritten, OrNarrow(ACL_INT64, ACL_INT32), kPerSequence,
     offsetof(AdvanceStepMultiPayload, args.seqLens)},
    {"slotMapping", Access::kWritten, OrNarrow(ACL_INT64, ACL_INT32), kPerStepAndSequence,
     offsetof(AdvanceStepMultiPayload, args.slotMapping)},
    {"blockTables", Access::kRead, Either(ACL_INT64, ACL_INT32), kBlockTable,
     offsetof(AdvanceStepMultiPayload, args.blockTables), Layout::kContiguousRows},
}};
static_assert(BeginsWith(kAdvanceStepMultiSignature, kAdvanceStepSignature));

}  // namespace advstep
