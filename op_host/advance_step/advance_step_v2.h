// SPDX-License-Identifier: Apache-2.0
// The operator AdvanceStepV2: table, check, tiling and words of faults.

#pragma once

#include <cstddef>
#include <cstdint>

#include "op_host/advance_step/advance_step_family.h"
#include "op_kernel/advance_step/advance_step_v2_kernel.h"

namespace advstep {

/// k is the number of spec tokens of a query.
struct AdvanceStepV2Dim : AdvanceStepDim {
    enum : uint8_t { kSpecTokens = AdvanceStepDim::kCount, kPerQuery, kRows, kCount };
};

inline constexpr op::Shapes kPerRow = {
    {"[numSeqs * (k + 1)]", AdvanceStepV2Dim::kRows},
    {"[numSeqs, k + 1]", AdvanceStepDim::kNumSeqs, AdvanceStepV2Dim::kPerQuery}};
inline constexpr op::Shapes kRowsOfQueries = {
    {"[numSeqs, k + 1]", AdvanceStepDim::kNumSeqs, AdvanceStepV2Dim::kPerQuery}};
inline constexpr op::Shapes kSpecOfQueries = {
    {"[numSeqs, k]", AdvanceStepDim::kNumSeqs, AdvanceStepV2Dim::kSpecTokens}};
inline constexpr op::Shapes kFlatPerSequence = {{"[numSeqs]", AdvanceStepDim::kNumSeqs}};

/// The tensors of AdvanceStepV2 with spec tokens. specToken says how many there are.
inline constexpr op::Signature<8> kAdvanceStepV2Signature = {{
    {"inputTokens", op::Access::kWritten, op::Only(ACL_INT64), kPerRow,
     offsetof(AdvanceStepV2Payload, args.common.inputTokens)},
    {"sampledTokenIds", op::Access::kRead, op::Only(ACL_INT64), kRowsOfQueries,
     offsetof(AdvanceStepV2Payload, args.common.sampledTokenIds)},
    {"inputPositions", op::Access::kWritten, op::Only(ACL_INT64), kPerRow,
     offsetof(AdvanceStepV2Payload, args.common.inputPositions)},
    {"seqLens", op::Access::kWritten, op::Only(ACL_INT64), kPerRow,
     offsetof(AdvanceStepV2Payload, args.common.seqLens)},
    {"slotMapping", op::Access::kWritten, op::Only(ACL_INT64), kPerRow,
     offsetof(AdvanceStepV2Payload, args.common.slotMapping)},
    {"blockTables", op::Access::kRead, op::Either(ACL_INT64, ACL_INT32), kBlockTable,
     offsetof(AdvanceStepV2Payload, args.common.blockTables), op::Layout::kContiguousRows},
    {"specToken", op::Access::kRead, op::Only(ACL_INT64), kSpecOfQueries,
     offsetof(AdvanceStepV2Payload, args.specToken)},
    {"acceptedNum", op::Access::kRead, op::Only(ACL_INT64), kFlatPerSequence,
     offsetof(AdvanceStepV2Payload, args.acceptedNum)},
}};
static_assert(op::BeginsWith(kAdvanceStepV2Signature, kAdvanceStepSignature));

struct AdvanceStepV2Tensor {
    static constexpr size_t kSpecToken = op::PlaceOf(kAdvanceStepV2Signature, "specToken");
};

/// Reports the first rule that the arguments break, in the order of CheckAdvanceStep, except that
/// the shape of specToken comes before the other shapes. The rules are the same in every
/// conformance, with one exception: exact takes only the shapes that a real device takes and, after
/// the check of the attributes, refuses a blockSize whose low 32 bits are 0 or negative (161002).
op::Status CheckAdvanceStepV2(const AdvanceStepParams& params, op::Conformance conformance);

/// Returns the number with which the device's AdvanceStepV2 computes: the low 32 bits of blockSize.
inline int64_t DeviceBlockSize(int64_t blockSize) {
    return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(blockSize)));
}

/// Distributes the rows of checked arguments over the cores. The rows of a query may be divided
/// among cores, so that a few queries with many spec tokens use all cores. A pure function.
AdvanceStepV2Tiling TileAdvanceStepV2(const AdvanceStepParams& params,
                                      const op::Environment& environment);

/// Describes a fault of the AdvanceStepV2 kernels (AdvanceStepFault) with its query, row, values
/// and expectation.
FaultReport DescribeAdvanceStepV2Fault(const Fault& fault, const void* payload);

}  // namespace advstep
