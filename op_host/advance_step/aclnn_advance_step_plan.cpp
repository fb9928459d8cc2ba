// SPDX-License-Identifier: Apache-2.0
// Implements the shared part of phase one: kernel programs and the plan.

#include "op_host/advance_step/aclnn_advance_step_plan.h"

#include "op_host/advance_step/advance_step_check.h"
#include "op_host/advance_step/advance_step_tiling.h"

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
    const bool tables32 = IsNarrow(params, AdvanceStepTensor::kBlockTables);
    if (environment.conformance == Conformance::kExact) {
        return &exact_[tables32];
    }
    return &standard_[IsNarrow(params, AdvanceStepTensor::kSeqLens)]
                     [IsNarrow(params, AdvanceStepTensor::kSlotMapping)][tables32]
                     [static_cast<int>(environment.onDivergence)];
}

op::Status PlanAdvanceStep(const AdvanceStepPrograms& programs, const AdvanceStepParams& params,
                           const OperatorEnvironment& environment,
                           op::Planned<AdvanceStepPayload>* plan) {
    ADVSTEP_OP_RETURN_IF_ERROR(CheckAdvanceStep(params, environment));
    plan->payload.tiling = TileAdvanceStep(params, environment);
    plan->program = programs.Find(params, environment);
    plan->coreCount = plan->payload.tiling.coreCount;
    plan->rows = params.numSeqs;
    return {};
}

}  // namespace advstep
