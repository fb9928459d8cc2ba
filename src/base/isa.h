// SPDX-License-Identifier: Apache-2.0
// The instruction sets that kernels are compiled for, and which of them this machine has.

#pragma once

#include "advance_step/operator/kernel.hpp"

namespace advstep {

using advance_step::op::Isa;

/// Returns whether this machine has the instruction set.
bool IsSupported(Isa isa);

/// Returns the widest instruction set that this machine has.
Isa BestIsa();

}  // namespace advstep
