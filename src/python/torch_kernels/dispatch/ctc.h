// SPDX-License-Identifier: Apache-2.0
// The targets of CTC losses: torch's kernels for "cpu" use them as indices, and check none.

#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

namespace advstep_torch {

/// Throws an error with the row of a target that is no class of log_probs, because torch's kernels
/// would read and write beyond their memory. Shapes and lengths are left to these kernels.
/// @param arguments  those of a CTC loss or of its gradient, on "cpu"
void CheckCtcTargets(const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> arguments);

}  // namespace advstep_torch
