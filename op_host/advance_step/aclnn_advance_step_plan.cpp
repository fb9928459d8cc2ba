#include "op_host/advance_step/aclnn_advance_step_plan.h"

#include "op_host/advance_step/advance_step_check.h"
#include "op_host/advance_step/advance_step_tiling.h"
#include "src/aclnn/run.h"
#include "src/aclnn/tensor.h"

namespace advstep {

KernelProgram MakeProgram(const AdvanceStepSource& source, const AdvanceStepKernels& kernels,
                          OnDivergence onDivergence, LaunchCounts (*count)(const void* payload)) {
    KernelProgram program;
    program.call = source.call;
    program.describe = source.describe;
    program.count = count;
    program.evenRows = true;
    program.keptBytesPerRow = kernels.keptBytesPerRow;
    program.phases[program.phaseCount++] = {kernels.check, OnFault::kFail, true};
    if (onDivergence != OnDivergence::kIgnore) {
        program.phases[program.phaseCount++] = {
            kernels.compare, onDivergence == OnDivergence::kWarn ? OnFault::kWarn : OnFault::kFail,
            true};
    }
    program.phases[program.phaseCount++] = {kernels.commit, OnFault::kFail, true};
    if (onDivergence == OnDivergence::kIgnore) {
        program.firstTwo = kernels.checkAndCommit;
    }
    return program;
}

AdvanceStepPrograms::AdvanceStepPrograms(const AdvanceStepSource& source) {
    for (const bool tables32 : {false, true}) {
        exact_[tables32] =
            MakeProgram(source, source.exact(tables32), OnDivergence::kIgnore, source.countExact);
        for (const bool lengths32 : {false, true}) {
            for (const bool slots32 : {false, true}) {
                for (const OnDivergence on :
                     {OnDivergence::kIgnore, OnDivergence::kWarn, OnDivergence::kError}) {
                    standard_[lengths32][slots32][tables32][static_cast<int>(on)] =
                        MakeProgram(source, source.standard(lengths32, slots32, tables32), on,
                                    source.countStandard);
                }
            }
        }
    }
}

const KernelProgram* AdvanceStepPrograms::Find(const AdvanceStepParams& params,
                                               const OperatorEnvironment& environment) const {
    const bool tables32 = params.blockTables.dataType == ACL_INT32;
    if (environment.conformance == Conformance::kExact) {
        return &exact_[tables32];
    }
    return &standard_[params.seqLens.dataType == ACL_INT32]
                     [params.slotMapping.dataType == ACL_INT32][tables32]
                     [static_cast<int>(environment.onDivergence)];
}

Status AdvanceStepViews(const aclTensor* inputTokens, const aclTensor* sampledTokenIds,
                        const aclTensor* inputPositions, const aclTensor* seqLens,
                        const aclTensor* slotMapping, const aclTensor* blockTables,
                        AdvanceStepParams* params) {
    ADVSTEP_RETURN_IF_ERROR(ViewOf(inputTokens, "inputTokens", &params->inputTokens));
    ADVSTEP_RETURN_IF_ERROR(ViewOf(sampledTokenIds, "sampledTokenIds", &params->sampledTokenIds));
    ADVSTEP_RETURN_IF_ERROR(ViewOf(inputPositions, "inputPositions", &params->inputPositions));
    ADVSTEP_RETURN_IF_ERROR(ViewOf(seqLens, "seqLens", &params->seqLens));
    ADVSTEP_RETURN_IF_ERROR(ViewOf(slotMapping, "slotMapping", &params->slotMapping));
    return ViewOf(blockTables, "blockTables", &params->blockTables);
}

Status PlanAdvanceStep(const AdvanceStepPrograms& programs, const AdvanceStepParams& params,
                       const Device& device, const PlanKey& key, uint64_t* workspaceSize,
                       aclOpExecutor** executor) {
    const OperatorEnvironment environment =
        EnvironmentOf(device.settings(), PlanningVectorCores(device));
    ADVSTEP_RETURN_IF_ERROR(CheckAdvanceStep(params, environment));
    AdvanceStepPayload payload{};
    payload.tiling = TileAdvanceStep(params, environment);
    AdvanceStepPlan plan(programs.Find(params, environment), device, payload.tiling.coreCount,
                         params.numSeqs, key);
    static constexpr auto kSlots = AdvanceStepSlots(offsetof(AdvanceStepPayload, args));
    plan.SetSlots(kSlots.data());
    plan.AddTensors(params);
    return plan.Make(payload, workspaceSize, executor);
}

// cppcheck-suppress uninitMemberVar ; only views that were added are read
AdvanceStepPlan::AdvanceStepPlan(const KernelProgram* program, const Device& device,
                                 int32_t coreCount, int64_t rows, const PlanKey& key) {
    plan_.key = &key;
    plan_.launch.program = program;
    plan_.launch.device = &device;
    plan_.launch.coreCount = coreCount;
    plan_.launch.rows = rows;
}

void AdvanceStepPlan::AddTensors(const AdvanceStepParams& params) {
    for (const TensorView* view :
         {&params.inputTokens, &params.sampledTokenIds, &params.inputPositions, &params.seqLens,
          &params.slotMapping, &params.blockTables}) {
        AddTensor(*view);
    }
}

void AdvanceStepPlan::SetWorkspace(uint64_t bytes, size_t addressAt) {
    plan_.workspaceBytes = bytes;
    plan_.workspaceAt = static_cast<int64_t>(addressAt);
}

}  // namespace advstep
