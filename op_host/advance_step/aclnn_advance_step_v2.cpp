// SPDX-License-Identifier: Apache-2.0
// The operator AdvanceStepV2 in its two forms, their kernel programs and the two calls.

#include "aclnnop/aclnn_advance_step_v2.h"

#include <algorithm>

#include "advance_step/operator.h"
#include "op_host/advance_step/aclnn_advance_step_plan.h"
#include "op_host/advance_step/advance_step_device_shapes.h"
#include "op_host/advance_step/advance_step_fault.h"
#include "op_host/advance_step/advance_step_v2_check.h"
#include "op_host/advance_step/advance_step_v2_fault.h"
#include "op_host/advance_step/advance_step_v2_tiling.h"
#include "op_kernel/advance_step/advance_step_v2_kernel.h"

using namespace advstep;

namespace {

constexpr char kCall[] = "aclnnAdvanceStepV2";

// A call without spec tokens is an AdvanceStep under the name of V2.
struct V2WithoutSpec {
    using Payload = AdvanceStepPayload;
    static constexpr const auto& kName = kCall;
    static constexpr const auto& kTensors = kAdvanceStepSignature;
    static constexpr const auto& kAttributes = kAdvanceStepAttributes;

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
                               OperatorEnvironment(request.environment), plan);
    }
};

// Only blockTables has a choice of dtypes in V2: one program for each of them, each setting of the
// detector, and each number of rows of a query.
class V2Programs {
 public:
    static const KernelProgram* Find(const AdvanceStepParams& params, int64_t rowsPerQuery,
                                     const OperatorEnvironment& environment) {
        const V2Programs& programs = All();
        const bool tables32 = IsNarrow(params, AdvanceStepTensor::kBlockTables);
        return environment.conformance == Conformance::kExact
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
                MakeProgram(source, V2ExactKernels(tables32), OnDivergence::kIgnore, &CountV2);
            for (const OnDivergence on :
                 {OnDivergence::kIgnore, OnDivergence::kWarn, OnDivergence::kError}) {
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
    using Shorter = V2WithoutSpec;
    static constexpr const auto& kName = kCall;
    static constexpr const auto& kTensors = kAdvanceStepV2Signature;
    static constexpr const auto& kAttributes = kAdvanceStepAttributes;

    static void Prepare() { (void)V2Programs::All(); }

    static op::Status Plan(const op::Request& request, int64_t numSeqs, int64_t numQueries,
                           int64_t blockSize, op::Planned<Payload>* plan) {
        AdvanceStepParams params{request.views, numSeqs, numQueries, blockSize};
        const OperatorEnvironment environment(request.environment);
        ADVSTEP_OP_RETURN_IF_ERROR(CheckAdvanceStepV2(params, environment.conformance));
        if (environment.conformance == Conformance::kExact) {
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

ADVSTEP_OPERATOR(aclnnAdvanceStepV2, AdvanceStepV2,
                 (const aclTensor* inputTokens, const aclTensor* sampledTokenIds,
                  const aclTensor* inputPositions, const aclTensor* seqLens,
                  const aclTensor* slotMapping, const aclTensor* blockTables,
                  const aclTensor* specToken, const aclTensor* acceptedNum, int64_t numSeqs,
                  int64_t numQueries, int64_t blockSize),
                 (inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables,
                  specToken, acceptedNum, numSeqs, numQueries, blockSize))
