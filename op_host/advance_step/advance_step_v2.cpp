// SPDX-License-Identifier: Apache-2.0
// Checks, tiles and plans AdvanceStepV2, words its faults, and defines its two calls.

#include "op_host/advance_step/advance_step_v2.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "aclnnop/aclnn_advance_step_v2.h"
#include "op_host/advance_step/advance_step.h"
#include "op_kernel/advance_step/advance_step_v2_kernel.h"

namespace advstep {

namespace {

// A real device takes rows of queries only flat, which is the first shape of each tensor.
op::Status CheckFirstShapes(const op::TensorView* views, const int64_t* dims) {
    for (op::TensorArgument argument : kAdvanceStepV2Signature) {
        argument.shapes.second = {};
        ADVSTEP_OP_RETURN_IF_ERROR(op::CheckShape(*views++, argument, dims));
    }
    return {};
}

op::Status CheckV2Shapes(const AdvanceStepParams& params, op::Conformance conformance) {
    constexpr size_t kSpecToken = AdvanceStepV2Tensor::kSpecToken;
    const op::TensorView& specToken = params.tensors[kSpecToken];
    auto dims = DimsOf<AdvanceStepV2Dim>(params);
    dims[AdvanceStepV2Dim::kSpecTokens] = op::kAtLeastOne;
    // The shape of specToken is checked first, because its second dim sets the other shapes.
    ADVSTEP_OP_RETURN_IF_ERROR(
        op::CheckShape(specToken, kAdvanceStepV2Signature[kSpecToken], dims.data()));
    dims[AdvanceStepV2Dim::kPerQuery] = specToken.dims[1] + 1;
    dims[AdvanceStepV2Dim::kRows] = params.numSeqs * dims[AdvanceStepV2Dim::kPerQuery];
    return conformance == op::Conformance::kExact
               ? CheckFirstShapes(params.tensors, dims.data())
               : op::CheckShapes<kAdvanceStepV2Signature>(params.tensors, dims);
}

op::Status CheckDeviceBlockSize(int64_t blockSize) {
    const int64_t used = DeviceBlockSize(blockSize);
    return used >= 1 ? op::Status()
                     : op::Error(op::kParamInvalid, "blockSize is ", blockSize,
                                 ", of which a real device uses the low 32 bits, ", used,
                                 "; expected at least 1 there under conformance exact");
}

}  // namespace

op::Status CheckAdvanceStepV2(const AdvanceStepParams& params, op::Conformance conformance) {
    ADVSTEP_OP_RETURN_IF_ERROR(op::CheckLayouts<kAdvanceStepV2Signature>(params.tensors));
    ADVSTEP_OP_RETURN_IF_ERROR(CheckNumSeqs(params.numSeqs));
    if (params.numQueries != params.numSeqs) {
        return op::Error(op::kTilingError, "numQueries is ", params.numQueries,
                         "; expected numSeqs = ", params.numSeqs, " with spec tokens");
    }
    ADVSTEP_OP_RETURN_IF_ERROR(CheckBlockSize(params.blockSize));
    if (conformance == op::Conformance::kExact) {
        ADVSTEP_OP_RETURN_IF_ERROR(CheckDeviceBlockSize(params.blockSize));
    }
    return CheckV2Shapes(params, conformance);
}

namespace {

// The values that a row keeps in the buffer: sampled or spec token, token, position, length, slot,
// block id and the accepted count.
constexpr int64_t kV2BytesPerRow = 7 * sizeof(int64_t);

}  // namespace

AdvanceStepV2Tiling TileAdvanceStepV2(const AdvanceStepParams& params,
                                      const op::Environment& environment) {
    AdvanceStepV2Tiling tiling{};
    tiling.rowsPerQuery = params.tensors[AdvanceStepV2Tensor::kSpecToken].dims[1] + 1;
    tiling.rows = params.numSeqs * tiling.rowsPerQuery;
    tiling.rowsPerCore = op::CeilDiv(tiling.rows, environment.vectorCores);
    tiling.coreCount = static_cast<int32_t>(op::CeilDiv(tiling.rows, tiling.rowsPerCore));
    tiling.rowsPerTile =
        std::clamp<int64_t>(environment.unifiedBufferBytes / kV2BytesPerRow, 1, tiling.rowsPerCore);
    tiling.blockSize = params.blockSize;
    const op::TensorView& blockTables = params.tensors[AdvanceStepTensor::kBlockTables];
    tiling.maxBlocks = blockTables.dims[1];
    tiling.blockTableStride = RowStrideOf(blockTables);
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    tiling.math = MakeBlockMath(tiling.blockSize, tiling.maxBlocks, kMost, kMost);
    return tiling;
}

namespace {

std::string Divergence(const std::string& who, const int64_t* v) {
    const std::string there = v[3] == std::numeric_limits<int64_t>::min()
                                  ? "would be refused"
                                  : fmt::format("would get position {} and slot {}", v[2], v[3]);
    return fmt::format(
        "{}: gets position {} and slot {}, and under conformance exact {}; expected both alike",
        who, v[0], v[1], there);
}

std::string Words(const Fault& fault, const AdvanceStepV2Tiling& t) {
    if (IsSlotFault(fault)) {
        return SlotFaultWords(fault);
    }
    const int64_t* const v = fault.values;
    const std::string who = fmt::format("query {} (row {})", fault.row / t.rowsPerQuery, fault.row);
    switch (static_cast<AdvanceStepFault>(fault.kind)) {
        case AdvanceStepFault::kNothingAccepted:
            return fmt::format(
                "{}: sampledTokenIds begins with {}; expected at least one token, which is not "
                "negative",
                who, v[0]);
        case AdvanceStepFault::kPositionTooLarge:
            return fmt::format(
                "{}: inputPositions is {} and acceptedNum {}; expected a new position that fits 64 "
                "bits",
                who, v[0], v[1]);
        case AdvanceStepFault::kNegativePosition:
            return fmt::format("{}: position is {}; expected at least 0", who, v[0]);
        case AdvanceStepFault::kLengthTooLarge:
            return fmt::format("{}: position is {}; expected one more to fit seqLens", who, v[0]);
        case AdvanceStepFault::kLengthWraps:
            return fmt::format("{}: position is {}; expected one more to fit 32 bits", who, v[0]);
        case AdvanceStepFault::kSlotWraps:
            return fmt::format(
                "{}: position {} in block {} with blockSize {} has a slot that is negative in 32 "
                "bits; expected a smaller block id",
                who, v[0], v[2], t.blockSize);
        case AdvanceStepFault::kPlaceDivergence:
            return Divergence(who, v);
        default:
            break;
    }
    const std::string words = PlaceFaultWords(who, fault, t.blockSize, t.maxBlocks);
    return words.empty() ? fmt::format("{}: fault {}", who, fault.kind) : words;
}

}  // namespace

FaultReport DescribeAdvanceStepV2Fault(const Fault& fault, const void* payload) {
    const auto& p = *static_cast<const AdvanceStepV2Payload*>(payload);
    return {ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, Words(fault, p.tiling)};
}

namespace {

constexpr char kCall[] = "aclnnAdvanceStepV2";

// A call without spec tokens is an AdvanceStep under the name of V2.
struct V2WithoutSpec {
    using Payload = AdvanceStepPayload;
    static constexpr const auto& kName = kCall;
    static constexpr const auto& kTensors = kAdvanceStepSignature;
    static constexpr const auto& kAttributes = kAdvanceStepAttributes;
    static constexpr bool kChecksDims = true;

    static const AdvanceStepPrograms& Programs() {
        static const AdvanceStepPrograms programs({kCall, &StandardKernels, &ExactKernels,
                                                   &op::InWords<&DescribeAdvanceStepFault>,
                                                   &CountStandard, &CountExact});
        return programs;
    }
    static void Prepare() { (void)Programs(); }

    static op::Status Plan(const op::Request& request, int64_t numSeqs, int64_t numQueries,
                           int64_t blockSize, op::Planned<Payload>* plan) {
        return PlanAdvanceStep(Programs(), {request.views, numSeqs, numQueries, blockSize},
                               op::Environment(request.environment), plan);
    }
};

// Only blockTables has a choice of dtypes in V2: one program for each of them, each setting of the
// detector, and each number of rows of a query.
class V2Programs {
 public:
    static const KernelProgram* Find(const AdvanceStepParams& params, int64_t rowsPerQuery,
                                     const op::Environment& environment) {
        const V2Programs& programs = All();
        const bool tables32 = IsNarrow(params, AdvanceStepTensor::kBlockTables);
        return environment.conformance == op::Conformance::kExact
                   ? &programs.exact_[tables32]
                   : &programs.wide_[std::min(rowsPerQuery, kV2MostRowsApart) - 1][tables32]
                                    [static_cast<int>(environment.onDivergence)];
    }

    static const V2Programs& All() {
        static const V2Programs programs;
        return programs;
    }

 private:
    V2Programs() {
        AdvanceStepSource source{};
        source.call = kCall;
        source.describe = &op::InWords<&DescribeAdvanceStepV2Fault>;
        for (const bool tables32 : {false, true}) {
            exact_[tables32] =
                MakeProgram(source, V2ExactKernels(tables32), op::OnDivergence::kIgnore, &CountV2);
            for (const op::OnDivergence on :
                 {op::OnDivergence::kIgnore, op::OnDivergence::kWarn, op::OnDivergence::kError}) {
                for (int64_t rows = 1; rows <= kV2MostRowsApart; ++rows) {
                    wide_[rows - 1][tables32][static_cast<int>(on)] =
                        MakeProgram(source, V2Kernels(tables32, rows), on, &CountV2);
                }
            }
        }
    }

    KernelProgram wide_[kV2MostRowsApart][2][3];
    KernelProgram exact_[2];
};

struct AdvanceStepV2 {
    using Payload = AdvanceStepV2Payload;
    using WithFewerTensors = V2WithoutSpec;
    static constexpr const auto& kName = kCall;
    static constexpr const auto& kTensors = kAdvanceStepV2Signature;
    static constexpr const auto& kAttributes = kAdvanceStepAttributes;
    static constexpr bool kChecksDims = true;

    static void Prepare() { (void)V2Programs::All(); }

    static op::Status Plan(const op::Request& request, int64_t numSeqs, int64_t numQueries,
                           int64_t blockSize, op::Planned<Payload>* plan) {
        AdvanceStepParams params{request.views, numSeqs, numQueries, blockSize};
        const op::Environment environment(request.environment);
        ADVSTEP_OP_RETURN_IF_ERROR(CheckAdvanceStepV2(params, environment.conformance));
        if (environment.conformance == op::Conformance::kExact) {
            params.blockSize = DeviceBlockSize(params.blockSize);
        }
        plan->payload.tiling = TileAdvanceStepV2(params, environment);
        plan->program = V2Programs::Find(params, plan->payload.tiling.rowsPerQuery, environment);
        plan->coreCount = plan->payload.tiling.coreCount;
        plan->rows = plan->payload.tiling.rows;
        return {};
    }
};

}  // namespace

}  // namespace advstep

ADVSTEP_OPERATOR(aclnnAdvanceStepV2, advstep::AdvanceStepV2,
                 (const aclTensor* inputTokens, const aclTensor* sampledTokenIds,
                  const aclTensor* inputPositions, const aclTensor* seqLens,
                  const aclTensor* slotMapping, const aclTensor* blockTables,
                  const aclTensor* specToken, const aclTensor* acceptedNum, int64_t numSeqs,
                  int64_t numQueries, int64_t blockSize),
                 (inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables,
                  specToken, acceptedNum, numSeqs, numQueries, blockSize))
