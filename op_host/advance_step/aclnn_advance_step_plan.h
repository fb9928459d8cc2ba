// SPDX-License-Identifier: Apache-2.0
// The parts of phase one that the AdvanceStep operators share.

#pragma once

#include "advance_step/operator/plan.hpp"
#include "op_host/advance_step/advance_step_params.h"
#include "op_host/common/environment.h"
#include "op_host/common/error_codes.h"
#include "op_kernel/advance_step/advance_step_kernel.h"

namespace advstep {

/// Kernels of an operator that takes AdvanceStep's tensors.
struct AdvanceStepSource {
    const char* call;  // name of phase two
    AdvanceStepKernels (*standard)(bool lengths32, bool slots32, bool tables32);
    AdvanceStepKernels (*exact)(bool tables32);
    DescribeFn describe;
    LaunchCounts (*countStandard)(const void* payload);
    LaunchCounts (*countExact)(const void* payload);
};

/// Makes a program of the phases check, compare (if divergences are looked for) and commit.
KernelProgram MakeProgram(const AdvanceStepSource& source, const AdvanceStepKernels& kernels,
                          OnDivergence onDivergence, LaunchCounts (*count)(const void* payload));

/// One program for each combination of element types and setting of the detector.
class AdvanceStepPrograms {
 public:
    explicit AdvanceStepPrograms(const AdvanceStepSource& source);

    const KernelProgram* Find(const AdvanceStepParams& params,
                              const OperatorEnvironment& environment) const;

 private:
    KernelProgram standard_[2][2][2][3];  // [int32 lengths][int32 slots][int32 tables][detector]
    KernelProgram exact_[2];              // [int32 tables]
};

/// Returns whether a tensor of one of two element types has the narrow one.
inline bool IsNarrow(const AdvanceStepParams& params, size_t place) {
    return params.tensors[place].dataType == ACL_INT32;
}

/// The names of the attributes that all operators of this folder have.
inline constexpr const char* kAdvanceStepAttributes[] = {"numSeqs", "numQueries", "blockSize"};

/// Makes AdvanceStep's plan: checks, tiles, and finds the program.
op::Status PlanAdvanceStep(const AdvanceStepPrograms& programs, const AdvanceStepParams& params,
                           const OperatorEnvironment& environment,
                           op::Planned<AdvanceStepPayload>* plan);

}  // namespace advstep
