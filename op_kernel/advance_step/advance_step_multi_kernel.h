// SPDX-License-Identifier: Apache-2.0
// AdvanceStepMulti on the cores: docs/operators/advance_step_multi.md has the formulas.

#pragma once

#include <cstdint>

#include "op_kernel/advance_step/advance_step_kernel.h"
#include "op_kernel/advance_step/advance_step_tiling_data.h"

namespace advstep {

// The tiling and payload of AdvanceStepMulti, and the numbers of its fault rows.

/// The distribution of one AdvanceStepMulti call over the cores: written by the host, read by every
/// core.
struct AdvanceStepMultiTiling {
    AdvanceStepTiling rows;
    int64_t steps;
};

struct AdvanceStepMultiPayload {
    AdvanceStepMultiTiling tiling;
    AdvanceStepArgs args;  // sampledTokenIds and slotMapping have a row for each step
};

/// The row of a Fault is step * numSeqs + row of the batch, so that the first step has the lowest
/// rows.
struct AdvanceStepMultiRow {
    int64_t step;
    int64_t row;

    static AdvanceStepMultiRow Of(const AdvanceStepMultiTiling& t, int64_t faultRow) {
        return {faultRow / t.rows.numSeqs, faultRow % t.rows.numSeqs};
    }
    int64_t FaultRow(const AdvanceStepMultiTiling& t) const { return step * t.rows.numSeqs + row; }
};

/// Conformances standard and vllm. Each core takes its rows through all steps.
AdvanceStepKernels MultiStandardKernels(bool lengths32, bool slots32, bool tables32);

/// Conformance exact; `compare` is null.
AdvanceStepKernels MultiExactKernels(bool tables32);

/// The work of a launch: that of all its steps.
void CountMultiStandard(const void* payload, int64_t* numbers);
void CountMultiExact(const void* payload, int64_t* numbers);

}  // namespace advstep
