// SPDX-License-Identifier: Apache-2.0
// AdvanceStep on the cores: docs/operators/advance_step.md has the formulas.

#pragma once

#include "op_kernel/advance_step/advance_step_tiling_data.h"
#include "op_kernel/common/kernel.h"

namespace advstep {

/// The phases of one combination of element types. Each core owns rows RowsOf(core), reads its own
/// rows of blockTables, and writes no tensor in `check` and `compare`. All take several cores at a
/// time.
struct AdvanceStepKernels {
    KernelFn check;    // reports the rows that cannot advance
    KernelFn compare;  // reports the rows that conformance exact would leave with other values
    KernelFn commit;   // writes; every row has passed the check
    KernelFn checkAndCommit = nullptr;  // both in one call, for all cores: writes if nothing is bad
    int32_t keptBytesPerRow = 0;        // KernelProgram::keptBytesPerRow
    KernelFn slots = nullptr;           // of OnFault::kFinding: looks at the slots; null: none
};

/// Conformances standard and vllm.
AdvanceStepKernels StandardKernels(bool lengths32, bool slots32, bool tables32);

/// Conformance exact; `compare` is null.
AdvanceStepKernels ExactKernels(bool tables32);

/// The counters of the operators of this folder: queries moved forward, padding rows blanked.
struct AdvanceStepCounter {
    enum : int32_t { kAdvanced, kPadded, kCount };
};
inline constexpr CounterNames kAdvanceStepCounters = {AdvanceStepCounter::kCount,
                                                      {"advanced", "padded"}};

/// The work of a launch, or of one of its steps.
void CountStandardRows(const AdvanceStepTiling& tiling, int64_t* numbers);
void CountExactRows(const AdvanceStepTiling& tiling, int64_t* numbers);
void CountStandard(const void* payload, int64_t* numbers);
void CountExact(const void* payload, int64_t* numbers);

}  // namespace advstep
