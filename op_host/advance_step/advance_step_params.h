// SPDX-License-Identifier: Apache-2.0
// The signature of AdvanceStep: the type, shape and address of each tensor.

#pragma once

#include <cstddef>
#include <cstdint>

#include "op_host/common/signature.h"
#include "op_kernel/advance_step/advance_step_tiling_data.h"

namespace advstep {

/// The dims of AdvanceStep's tensors. The other operators of this folder have these and their own.
struct AdvanceStepDim {
    enum : uint8_t { kNone, kOne, kNumSeqs, kNumQueries, kMaxBlocks, kCount };
};

inline constexpr Shapes kPerSequence = {
    {"[numSeqs]", AdvanceStepDim::kNumSeqs},
    {"[numSeqs, 1]", AdvanceStepDim::kNumSeqs, AdvanceStepDim::kOne}};
inline constexpr Shapes kOnePerQuery = {
    {"[numQueries, 1]", AdvanceStepDim::kNumQueries, AdvanceStepDim::kOne}};
inline constexpr Shapes kBlockTable = {
    {"[numSeqs, maxBlocks]", AdvanceStepDim::kNumSeqs, AdvanceStepDim::kMaxBlocks}};

/// The tensors of AdvanceStep. Conformance vllm takes narrow ones.
inline constexpr Signature<6> kAdvanceStepSignature = {{
    {"inputTokens", Access::kWritten, Only(ACL_INT64), kPerSequence,
     offsetof(AdvanceStepPayload, args.inputTokens)},
    {"sampledTokenIds", Access::kRead, Only(ACL_INT64), kOnePerQuery,
     offsetof(AdvanceStepPayload, args.sampledTokenIds)},
    {"inputPositions", Access::kWritten, Only(ACL_INT64), kPerSequence,
     offsetof(AdvanceStepPayload, args.inputPositions)},
    {"seqLens", Access::kWritten, OrNarrow(ACL_INT64, ACL_INT32), kPerSequence,
     offsetof(AdvanceStepPayload, args.seqLens)},
    {"slotMapping", Access::kWritten, OrNarrow(ACL_INT64, ACL_INT32), kPerSequence,
     offsetof(AdvanceStepPayload, args.slotMapping)},
    {"blockTables", Access::kRead, Either(ACL_INT64, ACL_INT32), kBlockTable,
     offsetof(AdvanceStepPayload, args.blockTables), Layout::kContiguousRows},
}};

/// Places of tensors that the host side looks at. Every operator of this folder begins with
/// AdvanceStep's tensors, so these are places in its signature, too.
struct AdvanceStepTensor {
    static constexpr size_t kSampledTokenIds = PlaceOf(kAdvanceStepSignature, "sampledTokenIds");
    static constexpr size_t kSeqLens = PlaceOf(kAdvanceStepSignature, "seqLens");
    static constexpr size_t kSlotMapping = PlaceOf(kAdvanceStepSignature, "slotMapping");
    static constexpr size_t kBlockTables = PlaceOf(kAdvanceStepSignature, "blockTables");
};

/// The arguments of phase one of an operator of this folder.
struct AdvanceStepParams {
    const TensorView* tensors = nullptr;  // in signature order
    int64_t numSeqs = 0;
    int64_t numQueries = 0;
    int64_t blockSize = 0;
};

/// Returns the dims of a call, of which those of AdvanceStep are set. Dim is AdvanceStepDim or
/// derived from it.
template <typename Dim>
CallDims<Dim::kCount> DimsOf(const AdvanceStepParams& params) {
    CallDims<Dim::kCount> dims{};
    dims[Dim::kOne] = 1;
    dims[Dim::kNumSeqs] = params.numSeqs;
    dims[Dim::kNumQueries] = params.numQueries;
    dims[Dim::kMaxBlocks] = kAtLeastOne;
    return dims;
}

}  // namespace advstep
