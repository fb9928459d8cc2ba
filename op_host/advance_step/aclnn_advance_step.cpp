#include "aclnnop/aclnn_advance_step.h"

#include <cstddef>
#include <iterator>

#include "op_host/advance_step/advance_step_check.h"
#include "op_host/advance_step/advance_step_fault.h"
#include "op_host/advance_step/advance_step_tiling.h"
#include "op_kernel/advance_step/advance_step_kernel.h"
#include "src/aclnn/executor.h"
#include "src/aclnn/run.h"
#include "src/aclnn/tensor.h"
#include "src/base/boundary.h"

using namespace advstep;

namespace {

constexpr char kPhaseOne[] = "aclnnAdvanceStepGetWorkspaceSize";
constexpr char kPhaseTwo[] = "aclnnAdvanceStep";

// One program per combination of element types and detector, made once.
class Programs {
 public:
    static const KernelProgram* Find(const AdvanceStepParams& params,
                                     const OperatorEnvironment& environment) {
        static const Programs programs;
        const bool tables32 = params.blockTables.dataType == ACL_INT32;
        if (environment.conformance == Conformance::kExact) {
            return &programs.exact_[tables32];
        }
        return &programs.standard_[params.seqLens.dataType == ACL_INT32]
                                  [params.slotMapping.dataType == ACL_INT32][tables32]
                                  [static_cast<int>(environment.onDivergence)];
    }

 private:
    Programs() {
        for (const bool tables32 : {false, true}) {
            exact_[tables32] = Make(ExactKernels(tables32), OnDivergence::kIgnore, &CountExact);
            for (const bool lengths32 : {false, true}) {
                for (const bool slots32 : {false, true}) {
                    for (const OnDivergence on :
                         {OnDivergence::kIgnore, OnDivergence::kWarn, OnDivergence::kError}) {
                        standard_[lengths32][slots32][tables32][static_cast<int>(on)] =
                            Make(StandardKernels(lengths32, slots32, tables32), on, &CountStandard);
                    }
                }
            }
        }
    }

    static KernelProgram Make(const AdvanceStepKernels& kernels, OnDivergence onDivergence,
                              LaunchCounts (*count)(const void* payload)) {
        KernelProgram program;
        program.call = kPhaseTwo;
        program.describe = &DescribeAdvanceStepFault;
        program.count = count;
        program.phases[program.phaseCount++] = {kernels.check, OnFault::kFail};
        if (onDivergence != OnDivergence::kIgnore) {
            program.phases[program.phaseCount++] = {
                kernels.compare,
                onDivergence == OnDivergence::kWarn ? OnFault::kWarn : OnFault::kFail};
        }
        program.phases[program.phaseCount++] = {kernels.commit, OnFault::kFail};
        return program;
    }

    KernelProgram standard_[2][2][2][3];  // lengths, slots, tables; detector
    KernelProgram exact_[2];
};

Status MakePlan(const AdvanceStepParams& params, const Device& device, uint64_t* workspaceSize,
                aclOpExecutor** executor) {
    const OperatorEnvironment environment =
        EnvironmentOf(device.settings(), PlanningVectorCores(device));
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStep(params, environment));
    AdvanceStepPayload payload{};
    payload.tiling = TileAdvanceStep(params, environment);
    Plan plan;
    plan.launch.program = Programs::Find(params, environment);
    plan.launch.device = &device;
    plan.launch.coreCount = payload.tiling.coreCount;
    plan.launch.rows = params.numSeqs;
    plan.launch.payloadBytes = sizeof(payload);
    plan.payload = &payload;
    constexpr size_t kArgs = offsetof(AdvanceStepPayload, args);
    using Args = AdvanceStepArgs;
    const TensorArgument tensors[] = {
        {"inputTokens", true, &params.inputTokens, kArgs + offsetof(Args, inputTokens)},
        {"sampledTokenIds", false, &params.sampledTokenIds,
         kArgs + offsetof(Args, sampledTokenIds)},
        {"inputPositions", true, &params.inputPositions, kArgs + offsetof(Args, inputPositions)},
        {"seqLens", true, &params.seqLens, kArgs + offsetof(Args, seqLens)},
        {"slotMapping", true, &params.slotMapping, kArgs + offsetof(Args, slotMapping)},
        {"blockTables", false, &params.blockTables, kArgs + offsetof(Args, blockTables)}};
    plan.tensors = tensors;
    plan.tensorCount = static_cast<int32_t>(std::size(tensors));
    ADVSTEP_RETURN_IF_ERROR(MakeExecutor(plan, executor));
    *workspaceSize = plan.workspaceBytes;
    return {};
}

}  // namespace

aclnnStatus aclnnAdvanceStepGetWorkspaceSize(const aclTensor* inputTokens,
                                             const aclTensor* sampledTokenIds,
                                             const aclTensor* inputPositions,
                                             const aclTensor* seqLens, const aclTensor* slotMapping,
                                             const aclTensor* blockTables, int64_t numSeqs,
                                             int64_t numQueries, int64_t blockSize,
                                             uint64_t* workspaceSize, aclOpExecutor** executor) {
    return AclnnBoundary(kPhaseOne, ACLNN_ERR_INNER, [&]() -> Status {
        AdvanceStepParams params;
        ADVSTEP_RETURN_IF_ERROR(ViewOf(inputTokens, "inputTokens", &params.inputTokens));
        ADVSTEP_RETURN_IF_ERROR(
            ViewOf(sampledTokenIds, "sampledTokenIds", &params.sampledTokenIds));
        ADVSTEP_RETURN_IF_ERROR(ViewOf(inputPositions, "inputPositions", &params.inputPositions));
        ADVSTEP_RETURN_IF_ERROR(ViewOf(seqLens, "seqLens", &params.seqLens));
        ADVSTEP_RETURN_IF_ERROR(ViewOf(slotMapping, "slotMapping", &params.slotMapping));
        ADVSTEP_RETURN_IF_ERROR(ViewOf(blockTables, "blockTables", &params.blockTables));
        ADVSTEP_RETURN_IF_ERROR(RequireOutput(workspaceSize, "workspaceSize"));
        ADVSTEP_RETURN_IF_ERROR(RequireOutput(executor, "executor"));
        params.numSeqs = numSeqs;
        params.numQueries = numQueries;
        params.blockSize = blockSize;
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(PlanningDevice(&device));
        return MakePlan(params, *device, workspaceSize, executor);
    });
}

aclnnStatus aclnnAdvanceStep(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                             aclrtStream stream) {
    return AclnnBoundary(kPhaseTwo, ACLNN_ERR_INNER, [&] {
        return RunExecutor(kPhaseTwo, workspace, workspaceSize, executor, stream);
    });
}
