// SPDX-License-Identifier: Apache-2.0
// What the operators of AdvanceStep's family share: tensors, checks, tiling, faults and programs.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "advance_step/operator.h"
#include "op_kernel/advance_step/advance_step_kernel.h"
#include "op_kernel/advance_step/advance_step_tiling_data.h"

namespace advstep {

namespace op = ::advance_step::op;

// The table.

/// The dims of AdvanceStep's tensors. The other operators of this folder have these and their own.
struct AdvanceStepDim {
    enum : uint8_t { kNone, kOne, kNumSeqs, kNumQueries, kMaxBlocks, kCount };
};

inline constexpr op::Shapes kPerSequence = {
    {"[numSeqs]", AdvanceStepDim::kNumSeqs},
    {"[numSeqs, 1]", AdvanceStepDim::kNumSeqs, AdvanceStepDim::kOne}};
inline constexpr op::Shapes kOnePerQuery = {
    {"[numQueries, 1]", AdvanceStepDim::kNumQueries, AdvanceStepDim::kOne}};
inline constexpr op::Shapes kBlockTable = {
    {"[numSeqs, maxBlocks]", AdvanceStepDim::kNumSeqs, AdvanceStepDim::kMaxBlocks}};

/// The tensors of AdvanceStep. Conformance vllm takes narrow ones.
inline constexpr op::Signature<6> kAdvanceStepSignature = {{
    {"inputTokens", op::Access::kWritten, op::Only(ACL_INT64), kPerSequence,
     offsetof(AdvanceStepPayload, args.inputTokens)},
    {"sampledTokenIds", op::Access::kRead, op::Only(ACL_INT64), kOnePerQuery,
     offsetof(AdvanceStepPayload, args.sampledTokenIds)},
    {"inputPositions", op::Access::kWritten, op::Only(ACL_INT64), kPerSequence,
     offsetof(AdvanceStepPayload, args.inputPositions)},
    {"seqLens", op::Access::kWritten, op::OrNarrow(ACL_INT64, ACL_INT32), kPerSequence,
     offsetof(AdvanceStepPayload, args.seqLens)},
    {"slotMapping", op::Access::kWritten, op::OrNarrow(ACL_INT64, ACL_INT32), kPerSequence,
     offsetof(AdvanceStepPayload, args.slotMapping)},
    {"blockTables", op::Access::kRead, op::Either(ACL_INT64, ACL_INT32), kBlockTable,
     offsetof(AdvanceStepPayload, args.blockTables), op::Layout::kContiguousRows},
}};

/// Places of tensors that the host side looks at. Every operator of this folder begins with
/// AdvanceStep's tensors, so these are places in its signature, too.
struct AdvanceStepTensor {
    static constexpr size_t kSampledTokenIds =
        op::PlaceOf(kAdvanceStepSignature, "sampledTokenIds");
    static constexpr size_t kSeqLens = op::PlaceOf(kAdvanceStepSignature, "seqLens");
    static constexpr size_t kSlotMapping = op::PlaceOf(kAdvanceStepSignature, "slotMapping");
    static constexpr size_t kBlockTables = op::PlaceOf(kAdvanceStepSignature, "blockTables");
};

/// The arguments of phase one of an operator of this folder.
struct AdvanceStepParams {
    const op::TensorView* tensors = nullptr;  // in signature order
    int64_t numSeqs = 0;
    int64_t numQueries = 0;
    int64_t blockSize = 0;
};

/// Returns the dims of a call, of which those of AdvanceStep are set. Dim is AdvanceStepDim or
/// derived from it.
template <typename Dim>
op::CallDims<Dim::kCount> DimsOf(const AdvanceStepParams& params) {
    op::CallDims<Dim::kCount> dims{};
    dims[Dim::kOne] = 1;
    dims[Dim::kNumSeqs] = params.numSeqs;
    dims[Dim::kNumQueries] = params.numQueries;
    dims[Dim::kMaxBlocks] = op::kAtLeastOne;
    return dims;
}

/// Returns whether a tensor of one of two element types has the narrow one.
inline bool IsNarrow(const AdvanceStepParams& params, size_t place) {
    return params.tensors[place].dataType == ACL_INT32;
}

/// The names of the attributes that all operators of this folder have.
inline constexpr const char* kAdvanceStepAttributes[] = {"numSeqs", "numQueries", "blockSize"};

// The check.

/// Conformance vllm takes int32 lengths and slots.
inline bool TakesNarrowTensors(op::Conformance conformance) {
    return conformance == op::Conformance::kVllm;
}

/// Checks numSeqs, numQueries and blockSize.
op::Status CheckAdvanceStepAttributes(const AdvanceStepParams& params, op::Conformance conformance);

op::Status CheckNumSeqs(int64_t numSeqs);
op::Status CheckBlockSize(int64_t blockSize);

// The tiling.

/// Distributes the rows of checked arguments over the cores: consecutive rows, as evenly as
/// possible, without an idle core, in tiles that fit the unified buffer. A pure function.
AdvanceStepTiling TileAdvanceStep(const AdvanceStepParams& params,
                                  const op::Environment& environment);

/// As above, with the number of bytes that a row keeps in the unified buffer.
AdvanceStepTiling TileAdvanceStep(const AdvanceStepParams& params,
                                  const op::Environment& environment, int64_t bytesPerRow);

/// Returns the elements from one row of a checked table to the next. It returns the number of
/// columns for a table of one row, whose stride has no meaning, and for a table of a rank other
/// than 2, which has no gaps.
int64_t RowStrideOf(const op::TensorView& table);

/// Returns the columns of a checked block table of any rank: its elements divided by its dim 0.
int64_t ColumnsOf(const op::TensorView& table);

// The programs.

/// Kernels of an operator that takes AdvanceStep's tensors.
struct AdvanceStepSource {
    const char* call;  // name of phase two
    AdvanceStepKernels (*standard)(bool lengths32, bool slots32, bool tables32);
    AdvanceStepKernels (*exact)(bool tables32);
    DescribeFn describe;
    CountFn countStandard;
    CountFn countExact;
};

/// Makes a program of the phases check, compare (if divergences are looked for) and commit.
KernelProgram MakeProgram(const AdvanceStepSource& source, const AdvanceStepKernels& kernels,
                          op::OnDivergence onDivergence, CountFn count);

/// One program for each combination of element types and setting of the detector.
class AdvanceStepPrograms {
 public:
    explicit AdvanceStepPrograms(const AdvanceStepSource& source);

    const KernelProgram* Find(const AdvanceStepParams& params,
                              const op::Environment& environment) const;

 private:
    KernelProgram standard_[2][2][2][3];  // [int32 lengths][int32 slots][int32 tables][detector]
    KernelProgram exact_[2];              // [int32 tables]
};

// The words of a fault.

/// Returns the words of that report, for `row` of the batch, after a prefix: "step 2, query 3:
/// ...".
std::string AdvanceStepFaultWords(const std::string& prefix, int64_t row, const Fault& fault,
                                  const AdvanceStepTiling& tiling);

/// Returns the words for what the sanitizer finds in the slots of a launch, and whether a fault is
/// of that kind.
std::string SlotFaultWords(const Fault& fault);
bool IsSlotFault(const Fault& fault);

/// Returns the words for a fault of a token's place, or "" for another kind of fault. `who` names
/// the row: "query 3".
std::string PlaceFaultWords(const std::string& who, const Fault& fault, int64_t blockSize,
                            int64_t maxBlocks);

}  // namespace advstep
