// SPDX-License-Identifier: Apache-2.0
// The operator AdvanceStepMulti: table, check, tiling and words of faults.

#pragma once

#include <cstddef>
#include <cstdint>

#include "op_host/advance_step/advance_step_family.h"
#include "op_kernel/advance_step/advance_step_multi_kernel.h"

namespace advstep {

struct AdvanceStepMultiDim : AdvanceStepDim {
    enum : uint8_t { kAnySteps = AdvanceStepDim::kCount, kSteps, kCount };
};

inline constexpr op::Shapes kPerStepAndQuery = {
    {"[steps, numQueries]", AdvanceStepMultiDim::kAnySteps, AdvanceStepDim::kNumQueries},
    {"[steps, numQueries, 1]", AdvanceStepMultiDim::kAnySteps, AdvanceStepDim::kNumQueries,
     AdvanceStepDim::kOne}};
inline constexpr op::Shapes kPerStepAndSequence = {
    {"[steps, numSeqs]", AdvanceStepMultiDim::kSteps, AdvanceStepDim::kNumSeqs},
    {"[steps, numSeqs, 1]", AdvanceStepMultiDim::kSteps, AdvanceStepDim::kNumSeqs,
     AdvanceStepDim::kOne}};

/// The tensors of AdvanceStepMulti. sampledTokenIds says how many steps there are.
inline constexpr op::Signature<6> kAdvanceStepMultiSignature = {{
    {"inputTokens", op::Access::kWritten, op::Only(ACL_INT64), kPerSequence,
     offsetof(AdvanceStepMultiPayload, args.inputTokens)},
    {"sampledTokenIds", op::Access::kRead, op::Only(ACL_INT64), kPerStepAndQuery,
     offsetof(AdvanceStepMultiPayload, args.sampledTokenIds)},
    {"inputPositions", op::Access::kWritten, op::Only(ACL_INT64), kPerSequence,
     offsetof(AdvanceStepMultiPayload, args.inputPositions)},
    {"seqLens", op::Access::kWritten, op::OrNarrow(ACL_INT64, ACL_INT32), kPerSequence,
     offsetof(AdvanceStepMultiPayload, args.seqLens)},
    {"slotMapping", op::Access::kWritten, op::OrNarrow(ACL_INT64, ACL_INT32), kPerStepAndSequence,
     offsetof(AdvanceStepMultiPayload, args.slotMapping)},
    {"blockTables", op::Access::kRead, op::Either(ACL_INT64, ACL_INT32), kBlockTable,
     offsetof(AdvanceStepMultiPayload, args.blockTables), op::Layout::kContiguousRows},
}};
static_assert(op::BeginsWith(kAdvanceStepMultiSignature, kAdvanceStepSignature));

/// As CheckAdvanceStep, for tensors of several steps: sampledTokenIds and slotMapping have a row
/// for each step.
op::Status CheckAdvanceStepMulti(const AdvanceStepParams& params,
                                 const op::Environment& environment);

/// Distributes the rows of checked arguments over the cores as TileAdvanceStep does. A pure
/// function.
AdvanceStepMultiTiling TileAdvanceStepMulti(const AdvanceStepParams& params,
                                            const op::Environment& environment);

/// Describes a fault of the AdvanceStepMulti kernels (AdvanceStepFault) with its step, query,
/// values and expectation.
FaultReport DescribeAdvanceStepMultiFault(const Fault& fault, const void* payload);

}  // namespace advstep
