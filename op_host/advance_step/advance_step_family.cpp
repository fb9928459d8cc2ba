// SPDX-License-Identifier: Apache-2.0
// Implements what the operators of AdvanceStep's family share.

#include "op_host/advance_step/advance_step_family.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace advstep {
namespace {

constexpr int64_t kNumSeqsLimit = 200000000;  // numSeqs is below it

}  // namespace

op::Status CheckNumSeqs(int64_t numSeqs) {
    return numSeqs >= 1 && numSeqs < kNumSeqsLimit
               ? op::Status()
               : op::Error(op::kTilingError, "numSeqs is ", numSeqs, "; expected 1 <= numSeqs < ",
                           kNumSeqsLimit);
}

op::Status CheckBlockSize(int64_t blockSize) {
    return blockSize >= 1
               ? op::Status()
               : op::Error(op::kTilingError, "blockSize is ", blockSize, "; expected at least 1");
}

op::Status CheckAdvanceStepAttributes(const AdvanceStepParams& params,
                                      op::Conformance conformance) {
    ADVSTEP_OP_RETURN_IF_ERROR(CheckNumSeqs(params.numSeqs));
    const bool paddingNeeded = conformance != op::Conformance::kVllm;
    if (params.numQueries < 1 || params.numQueries > params.numSeqs ||
        (paddingNeeded && params.numQueries == params.numSeqs)) {
        return op::Error(op::kTilingError, "numQueries is ", params.numQueries,
                         "; expected 1 <= numQueries ",
                         paddingNeeded ? "<" : "<=", " numSeqs = ", params.numSeqs);
    }
    return CheckBlockSize(params.blockSize);
}

namespace {

// The values that a row keeps in the buffer: sampled token, token, position, length, slot and block
// id.
constexpr int64_t kBytesPerRow = 6 * sizeof(int64_t);

int64_t LastOf(const op::TensorView& tensor) {
    return tensor.dataType == ACL_INT32 ? std::numeric_limits<int32_t>::max()
                                        : std::numeric_limits<int64_t>::max();
}

}  // namespace

AdvanceStepTiling TileAdvanceStep(const AdvanceStepParams& params,
                                  const op::Environment& environment) {
    return TileAdvanceStep(params, environment, kBytesPerRow);
}

AdvanceStepTiling TileAdvanceStep(const AdvanceStepParams& params,
                                  const op::Environment& environment, int64_t bytesPerRow) {
    AdvanceStepTiling tiling{};
    tiling.exactCores = environment.socVectorCores;
    tiling.rowsPerCore = op::CeilDiv(params.numSeqs, environment.vectorCores);
    tiling.coreCount = static_cast<int32_t>(op::CeilDiv(params.numSeqs, tiling.rowsPerCore));
    tiling.rowsPerTile =
        std::clamp<int64_t>(environment.unifiedBufferBytes / bytesPerRow, 1, tiling.rowsPerCore);
    tiling.numSeqs = params.numSeqs;
    tiling.numQueries = params.numQueries;
    tiling.blockSize = params.blockSize;
    const op::TensorView& blockTables = params.tensors[AdvanceStepTensor::kBlockTables];
    tiling.maxBlocks = ColumnsOf(blockTables);
    tiling.blockTableStride = RowStrideOf(blockTables);
    tiling.math = MakeBlockMath(tiling.blockSize, tiling.maxBlocks,
                                LastOf(params.tensors[AdvanceStepTensor::kSeqLens]),
                                LastOf(params.tensors[AdvanceStepTensor::kSlotMapping]));
    return tiling;
}

int64_t RowStrideOf(const op::TensorView& table) {
    return table.rank == 2 && table.dims[0] > 1 ? table.strides[0] : ColumnsOf(table);
}

int64_t ColumnsOf(const op::TensorView& table) {
    int64_t columns = 1;
    for (int64_t axis = 1; axis < table.rank; ++axis) {
        columns *= table.dims[axis];  // the check of the layout has bounded the product
    }
    return columns;
}

KernelProgram MakeProgram(const AdvanceStepSource& source, const AdvanceStepKernels& kernels,
                          op::OnDivergence onDivergence, CountFn count) {
    KernelProgram program;
    program.call = source.call;
    program.describe = source.describe;
    program.count = count;
    program.counters = &kAdvanceStepCounters;
    program.evenRows = true;
    program.anyRounding = true;
    program.keptBytesPerRow = kernels.keptBytesPerRow;
    program.phases[program.phaseCount++] = {kernels.check, OnFault::kFail, true};
    if (onDivergence != op::OnDivergence::kIgnore) {
        program.phases[program.phaseCount++] = {
            kernels.compare,
            onDivergence == op::OnDivergence::kWarn ? OnFault::kWarn : OnFault::kFail, true};
    }
    program.phases[program.phaseCount++] = {kernels.commit, OnFault::kFail, true};
    if (kernels.slots != nullptr) {
        program.phases[program.phaseCount++] = {kernels.slots, OnFault::kFinding, true};
    }
    if (onDivergence == op::OnDivergence::kIgnore) {
        program.firstTwo = kernels.checkAndCommit;
    }
    return program;
}

AdvanceStepPrograms::AdvanceStepPrograms(const AdvanceStepSource& source) {
    for (const bool tables32 : {false, true}) {
        exact_[tables32] = MakeProgram(source, source.exact(tables32), op::OnDivergence::kIgnore,
                                       source.countExact);
        for (const bool lengths32 : {false, true}) {
            for (const bool slots32 : {false, true}) {
                for (const op::OnDivergence on :
                     {op::OnDivergence::kIgnore, op::OnDivergence::kWarn,
                      op::OnDivergence::kError}) {
                    standard_[lengths32][slots32][tables32][static_cast<int>(on)] =
                        MakeProgram(source, source.standard(lengths32, slots32, tables32), on,
                                    source.countStandard);
                }
            }
        }
    }
}

const KernelProgram* AdvanceStepPrograms::Find(const AdvanceStepParams& params,
                                               const op::Environment& environment) const {
    const bool tables32 = IsNarrow(params, AdvanceStepTensor::kBlockTables);
    if (environment.conformance == op::Conformance::kExact) {
        return &exact_[tables32];
    }
    return &standard_[IsNarrow(params, AdvanceStepTensor::kSeqLens)]
                     [IsNarrow(params, AdvanceStepTensor::kSlotMapping)][tables32]
                     [static_cast<int>(environment.onDivergence)];
}

namespace {

std::string Divergence(const std::string& who, const Fault& fault) {
    const int64_t exact = fault.values[1];
    const std::string there = exact == std::numeric_limits<int64_t>::min()
                                  ? "would not get a slot"
                                  : fmt::format("would get slot {}", exact);
    return fmt::format("{}: gets slot {}, and under conformance exact {}; expected both alike", who,
                       fault.values[0], there);
}

}  // namespace

std::string PlaceFaultWords(const std::string& who, const Fault& fault, int64_t blockSize,
                            int64_t maxBlocks) {
    const int64_t* const v = fault.values;
    switch (static_cast<AdvanceStepFault>(fault.kind)) {
        case AdvanceStepFault::kColumnOutside:
            return fmt::format(
                "{}: position {} with blockSize {} needs column {} of blockTables; expected column "
                "< maxBlocks = {}",
                who, v[0], blockSize, v[1], maxBlocks);
        case AdvanceStepFault::kNegativeBlock:
            return fmt::format(
                "{}: position {} has block id {} in column {} of blockTables; expected at least 0",
                who, v[0], v[2], v[1]);
        case AdvanceStepFault::kSlotTooLarge:
            return fmt::format(
                "{}: position {} in block {} with blockSize {} has a slot that does not fit "
                "slotMapping's dtype; expected a smaller block id",
                who, v[0], v[2], blockSize);
        default:
            return "";
    }
}

std::string SlotFaultWords(const Fault& fault) {
    const int64_t* const v = fault.values;
    if (static_cast<AdvanceStepFault>(fault.kind) == AdvanceStepFault::kSameSlot) {
        return fmt::format(
            "same_slot: queries {} and {} write slot {}, which is one token of the KV cache; "
            "expected rows of blockTables with blocks of their own to write",
            std::min(fault.row, v[1]), std::max(fault.row, v[1]), v[0]);
    }
    return fmt::format(
        "shared_block: query {} writes into block {}, which query {} {} of blockTables; expected a "
        "block of its own to write",
        fault.row, v[0], v[1],
        v[2] < 0 ? std::string("writes too, by its row") : fmt::format("has in column {}", v[2]));
}

bool IsSlotFault(const Fault& fault) {
    const auto kind = static_cast<AdvanceStepFault>(fault.kind);
    return kind == AdvanceStepFault::kSameSlot || kind == AdvanceStepFault::kSharedBlock;
}

std::string AdvanceStepFaultWords(const std::string& prefix, int64_t row, const Fault& fault,
                                  const AdvanceStepTiling& tiling) {
    if (IsSlotFault(fault)) {
        return SlotFaultWords(fault);
    }
    const int64_t* const v = fault.values;
    const std::string who = fmt::format("{}query {}", prefix, row);
    switch (static_cast<AdvanceStepFault>(fault.kind)) {
        case AdvanceStepFault::kNegativePosition:
            return fmt::format("{}: seqLens is {}; expected at least 0", who, v[0]);
        case AdvanceStepFault::kLengthTooLarge:
            return fmt::format("{}: seqLens is {}; expected one more to fit its dtype", who, v[0]);
        case AdvanceStepFault::kFlatOutside:
            return fmt::format(
                "{}: position {} with blockSize {} reads entry {} of blockTables; expected 0 <= "
                "entry < numSeqs * maxBlocks = {}",
                who, v[0], tiling.blockSize, v[1], tiling.numSeqs * tiling.maxBlocks);
        case AdvanceStepFault::kDivergence:
            return Divergence(who, fault);
        case AdvanceStepFault::kPaddingDivergence:
            return fmt::format(
                "{}padding row {}: is blanked, and under conformance exact would stay; expected "
                "both alike",
                prefix, row);
        default:
            break;
    }
    const std::string words = PlaceFaultWords(who, fault, tiling.blockSize, tiling.maxBlocks);
    return words.empty() ? fmt::format("{}row {}: fault {}", prefix, row, fault.kind) : words;
}

}  // namespace advstep
