// SPDX-License-Identifier: Apache-2.0
// The two calls of AdvanceStepV2, its kernel programs and its plan.

#include "aclnnop/aclnn_advance_step_v2.h"

#include "op_host/advance_step/aclnn_advance_step_plan.h"
#include "op_host/advance_step/advance_step_device_shapes.h"
#include "op_host/advance_step/advance_step_fault.h"
#include "op_host/advance_step/advance_step_v2_check.h"
#include "op_host/advance_step/advance_step_v2_fault.h"
#include "op_host/advance_step/advance_step_v2_tiling.h"
#include "op_kernel/advance_step/advance_step_v2_kernel.h"
#include "src/aclnn/run.h"
#include "src/base/at_load.h"
#include "src/base/boundary.h"

using namespace advstep;

namespace {

constexpr char kPhaseOne[] = "aclnnAdvanceStepV2GetWorkspaceSize";
constexpr char kPhaseTwo[] = "aclnnAdvanceStepV2";

// A call without spec tokens is an AdvanceStep under the name of V2.
const AdvanceStepPrograms& ProgramsWithoutSpec() {
    static const AdvanceStepPrograms programs({kPhaseTwo, &StandardKernels, &ExactKernels,
                                               &InWords<&DescribeAdvanceStepFault>, &CountStandard,
                                               &CountExact});
    return programs;
}

const AtLoad makeProgramsWithoutSpec(&ProgramsWithoutSpec);

// Only blockTables has a choice of dtypes in V2: one program for each of them and each setting of
// the detector.
class V2Programs {
 public:
    static const KernelProgram* Find(const AdvanceStepParams& params,
                                     const OperatorEnvironment& environment) {
        const V2Programs& programs = All();
        const bool tables32 = IsNarrow(params, AdvanceStepTensor::kBlockTables);
        return environment.conformance == Conformance::kExact
                   ? &programs.exact_[tables32]
                   : &programs.wide_[tables32][static_cast<int>(environment.onDivergence)];
    }

    static const V2Programs& All() {
        static const V2Programs programs;
        return programs;
    }

 private:
    V2Programs() {
        AdvanceStepSource source{};
        source.call = kPhaseTwo;
        source.describe = &InWords<&DescribeAdvanceStepV2Fault>;
        for (const bool tables32 : {false, true}) {
            exact_[tables32] =
                MakeProgram(source, V2ExactKernels(tables32), OnDivergence::kIgnore, &CountV2);
            for (const OnDivergence on :
                 {OnDivergence::kIgnore, OnDivergence::kWarn, OnDivergence::kError}) {
                wide_[tables32][static_cast<int>(on)] =
                    MakeProgram(source, V2Kernels(tables32), on, &CountV2);
            }
        }
    }

    KernelProgram wide_[2][3];
    KernelProgram exact_[2];
};

const AtLoad makeV2Programs(&V2Programs::All);

Status MakePlan(AdvanceStepParams params, const PlanRequest& request) {
    const Conformance conformance = request.environment.conformance;
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStepV2(params, conformance));
    if (conformance == Conformance::kExact) {
        params.blockSize = DeviceBlockSize(params.blockSize);
    }
    AdvanceStepV2Payload payload{};
    payload.tiling = TileAdvanceStepV2(params, request.environment);
    Plan plan;
    plan.launch.program = V2Programs::Find(params, request.environment);
    plan.launch.coreCount = payload.tiling.coreCount;
    plan.launch.rows = payload.tiling.rows;
    return FinishPlan<kAdvanceStepV2Signature>(request, payload, &plan);
}

}  // namespace

aclnnStatus aclnnAdvanceStepV2GetWorkspaceSize(
    const aclTensor* inputTokens, const aclTensor* sampledTokenIds, const aclTensor* inputPositions,
    const aclTensor* seqLens, const aclTensor* slotMapping, const aclTensor* blockTables,
    const aclTensor* specToken, const aclTensor* acceptedNum, int64_t numSeqs, int64_t numQueries,
    int64_t blockSize, uint64_t* workspaceSize, aclOpExecutor** executor) {
    return AclnnBoundary(kPhaseOne, ACLNN_ERR_INNER, [&] {
        if (specToken == nullptr && acceptedNum == nullptr) {
            return PhaseOne<kAdvanceStepSignature>(
                kPhaseTwo, {workspaceSize, executor}, {numSeqs, numQueries, blockSize},
                [&](const PlanRequest& request) {
                    return PlanAdvanceStep(ProgramsWithoutSpec(),
                                           {request.views, numSeqs, numQueries, blockSize},
                                           request);
                },
                inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables);
        }
        return PhaseOne<kAdvanceStepV2Signature>(
            kPhaseTwo, {workspaceSize, executor}, {numSeqs, numQueries, blockSize},
            [&](const PlanRequest& request) {
                return MakePlan({request.views, numSeqs, numQueries, blockSize}, request);
            },
            inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables,
            specToken, acceptedNum);
    });
}

aclnnStatus aclnnAdvanceStepV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                               aclrtStream stream) {
    return AclnnBoundary(kPhaseTwo, ACLNN_ERR_INNER, [&] {
        return RunExecutor(kPhaseTwo, workspace, workspaceSize, executor, stream);
    });
}
