// SPDX-License-Identifier: Apache-2.0
// Checks, tiles and plans Step, words its faults, and defines its two calls.

#include "op_host/step/step.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "acl/acl_base.h"
#include "aclnnop/aclnn_step.h"
#include "op_kernel/step/step_bits.h"
#include "op_kernel/step/step_kernels.h"
#include "op_kernel/step/step_rules.h"

namespace advstep {

namespace {

StepDims ReadDims(const StepParams& params) {
    const auto read = [&](size_t place, int64_t axis) {
        return op::DimOrZero(params.tensors[place], axis);
    };
    StepDims dims;
    dims.batch = read(StepTensor::kSeqLensThisTime, 0);
    dims.slots = read(StepTensor::kStopFlags, 0);
    dims.tableWidth = read(StepTensor::kBlockTables, 1);
    dims.freeCapacity = read(StepTensor::kFreeList, 0);
    dims.inputWidth = read(StepTensor::kInputIds, 1);
    dims.preWidth = read(StepTensor::kPreIds, 1);
    return dims;
}

op::Status CheckStepShapes(const StepParams& params, const StepDims& dims) {
    op::CallDims<StepDim::kCount> values{};
    values[StepDim::kOne] = 1;
    values[StepDim::kBatch] = dims.batch;
    values[StepDim::kSlots] = dims.slots;
    // Each of these dims belongs to one tensor, and may have any value.
    values[StepDim::kTableWidth] = values[StepDim::kFree] = op::kAtLeastZero;
    values[StepDim::kInputWidth] = values[StepDim::kPreWidth] = op::kAtLeastZero;
    return op::CheckShapes<kStepSignature>(params.tensors, values);
}

// The tensors count slots and blocks in int32.
op::Status CheckDims(const StepDims& dims) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (dims.batch < 0 || dims.batch > dims.slots || dims.slots > kMost) {
        return op::Error(op::kTilingError, "seqLensThisTime has B = ", dims.batch,
                         " rows and stopFlags S = ", dims.slots,
                         "; expected 0 <= B <= S <= ", kMost);
    }
    if (dims.freeCapacity > kMost || dims.tableWidth > kMost) {
        return op::Error(op::kTilingError, "freeList has F = ", dims.freeCapacity,
                         " entries and blockTables W = ", dims.tableWidth,
                         " columns; expected at most ", kMost, " of each");
    }
    return {};
}

}  // namespace

op::Status CheckStep(const StepParams& params, StepDims* dims) {
    ADVSTEP_OP_RETURN_IF_ERROR(op::CheckLayouts<kStepSignature>(params.tensors));
    if (params.blockSize < 1) {
        return op::Error(op::kTilingError, "blockSize is ", params.blockSize,
                         "; expected at least 1");
    }
    *dims = ReadDims(params);
    ADVSTEP_OP_RETURN_IF_ERROR(CheckStepShapes(params, *dims));
    return CheckDims(*dims);
}

namespace {

// A core has whole words of the sets of slots. One with fewer than a few words costs more than it
// saves.
constexpr int64_t kFewestSlotsPerCore = 4 * kSlotsPerWord;

int32_t ShiftOf(int64_t blockSize) {
    constexpr int32_t kMostShift = 31;  // shifts every int32 that is not negative to 0
    if ((blockSize & (blockSize - 1)) != 0) {
        return -1;
    }
    int32_t shift = 0;
    while (shift < kMostShift && (int64_t{1} << shift) < blockSize) {
        ++shift;
    }
    return shift;
}

// The rows of the tables, of inputIds and of preIds that a step may move.
bool MovesLittle(const StepTiling& tiling) {
    constexpr int64_t kMostColumns = kBriefBytes;  // so that nothing overflows
    const int64_t tokens = std::min(tiling.inputWidth, tiling.preWidth);
    return tiling.batch <= kMostColumns && tokens <= kMostColumns &&
           tiling.tableWidth <= kMostColumns &&
           tiling.batch * (tokens * int64_t{sizeof(int64_t)} +
                           tiling.tableWidth * int64_t{sizeof(int32_t)}) <=
               kBriefBytes;
}

}  // namespace

StepTiling TileStep(const StepDims& dims, int64_t blockSize, const op::Environment& environment) {
    StepTiling tiling{};
    tiling.exact = environment.conformance == op::Conformance::kExact ? 1 : 0;
    const int64_t words =
        op::CeilDiv(op::CeilDiv(dims.batch, environment.vectorCores), kSlotsPerWord);
    tiling.slotsPerCore = std::max(kFewestSlotsPerCore, words * kSlotsPerWord);
    tiling.coreCount = static_cast<int32_t>(op::CeilDiv(dims.batch, tiling.slotsPerCore));
    tiling.batch = dims.batch;
    tiling.tableWidth = dims.tableWidth;
    tiling.freeCapacity = dims.freeCapacity;
    tiling.inputWidth = dims.inputWidth;
    tiling.preWidth = dims.preWidth;
    tiling.blockSize = blockSize;
    tiling.blockShift = ShiftOf(blockSize);
    tiling.blockInverse = 1.0 / static_cast<double>(blockSize);
    tiling.movesLittle = MovesLittle(tiling) ? 1 : 0;
    return tiling;
}

namespace {

std::string Words(const Fault& fault, const StepTiling& t) {
    const char* const words = StepRuleWords(fault.kind);
    if (words == nullptr) {
        return fmt::format("slot {}: fault {}", fault.row, fault.kind);
    }
    const auto dim = [](const char* name, int64_t value) {
        return fmt::format("{} = {}", name, value);
    };
    return fmt::format(fmt::runtime(words), fault.values[0], fault.values[1], fault.values[2],
                       fmt::arg("row", fault.row), fmt::arg("B", dim("B", t.batch)),
                       fmt::arg("W", dim("W", t.tableWidth)),
                       fmt::arg("F", dim("F", t.freeCapacity)),
                       fmt::arg("L", dim("L", t.inputWidth)), fmt::arg("P", dim("P", t.preWidth)),
                       fmt::arg("columns", t.tableWidth), fmt::arg("blockSize", t.blockSize));
}

}  // namespace

FaultReport DescribeStepFault(const Fault& fault, const void* payload) {
    const bool noProgress = fault.kind == static_cast<int32_t>(StepFault::kNoProgress);
    return {noProgress ? ACL_ERROR_RT_RESOURCE_ALLOC_FAIL : ACL_ERROR_RT_VECTOR_CORE_EXCEPTION,
            Words(fault, static_cast<const StepPayload*>(payload)->tiling)};
}

namespace {

constexpr char kCall[] = "aclnnStep";

constexpr KernelProgram MakeStepProgram(std::initializer_list<KernelFn> phases) {
    KernelProgram program;
    program.call = kCall;
    program.describe = &op::InWords<&DescribeStepFault>;
    program.count = &CountStep;
    program.counters = &kStepCounters;
    program.anyRounding = true;
    program.isBrief = &IsBriefStep;
    // A step keeps the blocks apart if the host side has handed them over so.
    if (phases.size() > 0) {
        program.phases[program.phaseCount++] = {&StepSlots, OnFault::kFinding, true};
    }
    for (const KernelFn phase : phases) {
        program.phases[program.phaseCount++] = {phase, OnFault::kFail, true};
    }
    return program;
}

constexpr KernelProgram kProgram =
    MakeStepProgram({&StepCollect, &StepDecide, &StepGiveBack, &StepHandOut, &StepRecover});

// A launch of one core needs no phases: there is no other core to wait for.
constexpr KernelProgram kOneCoreProgram = MakeStepProgram({&StepOnOneCore});

constexpr KernelProgram kEmptyProgram = MakeStepProgram({});

const KernelProgram& ProgramFor(const StepTiling& tiling) {
    switch (tiling.coreCount) {
        case 0:
            return kEmptyProgram;
        case 1:
            return kOneCoreProgram;
        default:
            return kProgram;
    }
}

StepWorkspaceOffsets BookWorkspace(const StepTiling& tiling, op::WorkspaceLayout* layout) {
    StepWorkspaceOffsets offsets{};
    if (tiling.batch == 0) {
        return offsets;
    }
    offsets.plan = layout->Book<StepPlan>(1);
    offsets.counts = layout->Book<StepCoreCounts>(tiling.coreCount);
    const int64_t words = WordsOf(tiling.batch);
    offsets.releases = layout->Book<uint64_t>(words);
    offsets.needs = layout->Book<uint64_t>(words);
    offsets.served = layout->Book<uint64_t>(words);
    offsets.waiting = layout->Book<uint64_t>(words);
    offsets.nextCandidate = layout->Book<int32_t>(tiling.batch);
    offsets.firstCandidate = layout->Book<int32_t>(tiling.tableWidth + 2);
    offsets.victims = layout->Book<StepVictim>(tiling.batch);
    offsets.recoveries = layout->Book<StepRecovery>(tiling.batch);
    return offsets;
}

struct Step {
    using Payload = StepPayload;
    static constexpr const auto& kName = kCall;
    static constexpr const auto& kTensors = kStepSignature;
    static constexpr const char* kAttributes[] = {"blockSize"};
    static constexpr bool kChecksDims = true;

    static op::Status Plan(const op::Request& request, int64_t blockSize,
                           op::Planned<Payload>* plan) {
        StepDims dims;
        ADVSTEP_OP_RETURN_IF_ERROR(CheckStep({request.views, blockSize}, &dims));
        StepPayload& payload = plan->payload;
        payload.tiling = TileStep(dims, blockSize, op::Environment(request.environment));
        op::WorkspaceLayout layout;
        payload.offsets = BookWorkspace(payload.tiling, &layout);
        plan->program = &ProgramFor(payload.tiling);
        plan->coreCount = payload.tiling.coreCount;
        plan->rows = dims.batch;
        plan->workspaceBytes = layout.bytes();
        plan->workspaceAt = offsetof(StepPayload, workspace);
        plan->allDistinct = true;
        return {};
    }
};

}  // namespace

}  // namespace advstep

// No result depends on encoderDecoderBlockNum.
ADVSTEP_OPERATOR(aclnnStep, advstep::Step,
                 (const aclTensor* stopFlags, const aclTensor* seqLensThisTime,
                  const aclTensor* oriSeqLensEncoder, const aclTensor* seqLensEncoder,
                  const aclTensor* seqLensDecoder, const aclTensor* blockTables,
                  const aclTensor* encoderBlockLens, const aclTensor* isBlockStep,
                  const aclTensor* stepBlockList, const aclTensor* stepLens,
                  const aclTensor* recoverBlockList, const aclTensor* recoverLens,
                  const aclTensor* needBlockList, const aclTensor* needBlockLen,
                  const aclTensor* usedListLen, const aclTensor* freeList,
                  const aclTensor* freeListLen, const aclTensor* inputIds, const aclTensor* preIds,
                  const aclTensor* stepIdx, const aclTensor* nextTokens,
                  const aclTensor* firstTokenIds, int64_t blockSize,
                  int64_t /*encoderDecoderBlockNum*/),
                 (stopFlags, seqLensThisTime, oriSeqLensEncoder, seqLensEncoder, seqLensDecoder,
                  blockTables, encoderBlockLens, isBlockStep, stepBlockList, stepLens,
                  recoverBlockList, recoverLens, needBlockList, needBlockLen, usedListLen, freeList,
                  freeListLen, inputIds, preIds, stepIdx, nextTokens, firstTokenIds, blockSize))
