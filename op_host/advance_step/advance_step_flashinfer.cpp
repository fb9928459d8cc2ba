// SPDX-License-Identifier: Apache-2.0
// Checks, tiles and plans AdvanceStepFlashInfer, words its faults, and defines its two calls.

#include "op_host/advance_step/advance_step_flashinfer.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "aclnnop/aclnn_advance_step_flashinfer.h"
#include "op_kernel/advance_step/advance_step_flashinfer_kernel.h"

namespace advstep {

op::Status CheckAdvanceStepFlashInfer(const AdvanceStepParams& params) {
    ADVSTEP_OP_RETURN_IF_ERROR(op::CheckLayouts<kAdvanceStepFlashInferSignature>(params.tensors));
    ADVSTEP_OP_RETURN_IF_ERROR(CheckAdvanceStepAttributes(params, op::Conformance::kVllm));
    auto dims = DimsOf<AdvanceStepFlashInferDim>(params);
    dims[AdvanceStepFlashInferDim::kCapacity] = op::kAtLeastZero;
    dims[AdvanceStepFlashInferDim::kPlaces] = params.numSeqs + 1;
    return op::CheckShapes<kAdvanceStepFlashInferSignature>(params.tensors, dims);
}

namespace {

// AdvanceStep's six values of 64 bits, and a place in pagedKvIndptr, a bound, a length and a page.
constexpr int64_t kFlashInferBytesPerRow = 6 * sizeof(int64_t) + 4 * sizeof(int32_t);

}  // namespace

AdvanceStepFlashInferTiling TileAdvanceStepFlashInfer(const AdvanceStepParams& params,
                                                      const op::Environment& environment) {
    AdvanceStepFlashInferTiling tiling{};
    tiling.rows = TileAdvanceStep(params, environment, kFlashInferBytesPerRow);
    tiling.capacity = params.tensors[AdvanceStepFlashInferTensor::kPagedKvIndices].dims[0];
    return tiling;
}

namespace {

constexpr int32_t kMostInt32 = std::numeric_limits<int32_t>::max();

std::string Words(const Fault& fault, const AdvanceStepFlashInferTiling& t) {
    const int64_t* const v = fault.values;
    switch (static_cast<AdvanceStepFault>(fault.kind)) {
        case AdvanceStepFault::kNoPage:
            return fmt::format(
                "query {}: block id {} in column {} of blockTables goes to pagedKvIndices; "
                "expected 0 <= block id <= {}",
                fault.row, v[1], v[0], kMostInt32);
        case AdvanceStepFault::kPageTooLong:
            return fmt::format(
                "query {}: its last block has {} tokens; expected at most {} for "
                "pagedKvLastPageLen",
                fault.row, v[0], kMostInt32);
        case AdvanceStepFault::kTooManyPages:
            return fmt::format(
                "query {}: {} block ids up to it; expected at most {} for pagedKvIndptr", fault.row,
                v[0], kMostInt32);
        case AdvanceStepFault::kIndicesTooSmall:
            return fmt::format(
                "query {}: {} block ids up to it; expected at most the capacity of pagedKvIndices "
                "= {}",
                fault.row, v[0], v[1]);
        default:
            return AdvanceStepFaultWords("", fault.row, fault, t.rows);
    }
}

}  // namespace

FaultReport DescribeAdvanceStepFlashInferFault(const Fault& fault, const void* payload) {
    const auto& p = *static_cast<const AdvanceStepFlashInferPayload*>(payload);
    return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, Words(fault, p.tiling)};
}

namespace {

constexpr char kCall[] = "aclnnAdvanceStepFlashInfer";

KernelProgram MakeFlashInferProgram(const FlashInferKernels& kernels) {
    KernelProgram program;
    program.call = kCall;
    program.describe = &op::InWords<&DescribeAdvanceStepFlashInferFault>;
    program.count = &CountFlashInfer;
    program.counters = &kAdvanceStepCounters;
    program.keptBytesPerRow = kernels.keptBytesPerRow;
    program.anyRounding = true;
    for (const KernelFn phase : {kernels.count, kernels.check, kernels.commit}) {
        program.phases[program.phaseCount++] = {phase, OnFault::kFail, true};
    }
    program.phases[program.phaseCount++] = {kernels.slots, OnFault::kFinding, true};
    return program;
}

// A query may copy all its block ids, and four of them take about as long as a row without any.
int64_t WorkOf(const AdvanceStepTiling& t) {
    constexpr int64_t kBlocksPerRow = 4;
    int64_t copied = 0;
    return __builtin_mul_overflow(t.numQueries, t.maxBlocks / kBlocksPerRow, &copied)
               ? std::numeric_limits<int64_t>::max()
               : std::max(t.numSeqs, copied);
}

// One program for each combination of element types.
class Programs {
 public:
    static const KernelProgram* Find(const AdvanceStepParams& params) {
        return &All().programs_[IsNarrow(params, AdvanceStepTensor::kSeqLens)]
                               [IsNarrow(params, AdvanceStepTensor::kSlotMapping)]
                               [IsNarrow(params, AdvanceStepTensor::kBlockTables)];
    }

    static const Programs& All() {
        static const Programs programs;
        return programs;
    }

 private:
    Programs() {
        for (const bool lengths32 : {false, true}) {
            for (const bool slots32 : {false, true}) {
                for (const bool tables32 : {false, true}) {
                    programs_[lengths32][slots32][tables32] =
                        MakeFlashInferProgram(FlashInferKernelsFor(lengths32, slots32, tables32));
                }
            }
        }
    }

    KernelProgram programs_[2][2][2];  // lengths, slots, tables
};

struct AdvanceStepFlashInfer {
    using Payload = AdvanceStepFlashInferPayload;
    static constexpr const auto& kName = kCall;
    static constexpr const auto& kTensors = kAdvanceStepFlashInferSignature;
    static constexpr const auto& kAttributes = kAdvanceStepAttributes;
    static constexpr bool kChecksDims = true;

    static void Prepare() { (void)Programs::All(); }

    static op::Status Plan(const op::Request& request, int64_t numSeqs, int64_t numQueries,
                           int64_t blockSize, op::Planned<Payload>* plan) {
        const AdvanceStepParams params{request.views, numSeqs, numQueries, blockSize};
        ADVSTEP_OP_RETURN_IF_ERROR(CheckAdvanceStepFlashInfer(params));
        plan->payload.tiling =
            TileAdvanceStepFlashInfer(params, op::Environment(request.environment));
        plan->coreCount = plan->payload.tiling.rows.coreCount;
        op::WorkspaceLayout layout;
        layout.Book<int64_t>(plan->coreCount);  // the only array, so at offset 0
        plan->program = Programs::Find(params);
        plan->rows = params.numSeqs;
        plan->work = WorkOf(plan->payload.tiling.rows);
        plan->workspaceBytes = layout.bytes();
        plan->workspaceAt = offsetof(Payload, workspace);
        return {};
    }
};

}  // namespace

}  // namespace advstep

ADVSTEP_OPERATOR(aclnnAdvanceStepFlashInfer, advstep::AdvanceStepFlashInfer,
                 (const aclTensor* inputTokens, const aclTensor* sampledTokenIds,
                  const aclTensor* inputPositions, const aclTensor* seqLens,
                  const aclTensor* slotMapping, const aclTensor* blockTables,
                  const aclTensor* pagedKvIndices, const aclTensor* pagedKvIndptr,
                  const aclTensor* pagedKvLastPageLen, const aclTensor* blockTableBound,
                  int64_t numSeqs, int64_t numQueries, int64_t blockSize),
                 (inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables,
                  pagedKvIndices, pagedKvIndptr, pagedKvLastPageLen, blockTableBound, numSeqs,
                  numQueries, blockSize))
