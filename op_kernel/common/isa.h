// SPDX-License-Identifier: Apache-2.0
// The instruction sets that kernels are compiled for.

#pragma once

#include "advance_step/operator/kernel.hpp"

namespace advstep {

using advance_step::op::Isa;

}  // namespace advstep
