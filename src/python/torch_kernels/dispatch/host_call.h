// SPDX-License-Identifier: Apache-2.0
// A call of torch's kernel for "cpu".

#pragma once

#include <ATen/core/stack.h>

#include "torch_kernels/operators/operator_description.h"

namespace advstep_torch {

/// Calls the operator's kernel for "cpu" with arguments on "cpu", in place of which come the
/// results. The library fills large tensors with zeros, so that a cache takes no memory before it
/// is used (Flag::kZeroes).
void CallOnHost(const Operator& op, torch::jit::Stack* stack);

}  // namespace advstep_torch
