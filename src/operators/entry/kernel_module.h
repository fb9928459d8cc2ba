// SPDX-License-Identifier: Apache-2.0
// The module that computes, which is loaded when the first operator is called: it needs libtorch.

#pragma once

#include <string>

#include "src/operators/entry/values.h"

namespace advstep_operators {

/// Returns the kernels, or null with the reason. The first call of the process loads them, and its
/// result is that of all later ones.
const Kernels* LoadKernels(const std::string** why);

}  // namespace advstep_operators
