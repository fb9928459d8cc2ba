// SPDX-License-Identifier: Apache-2.0
// Steps of optimizers, which write a parameter and its moments.

#pragma once

#include "src/operators/aten/named.h"

namespace advstep_operators {

/// AdamW, whose decay is apart from the gradient. The first version takes the powers of the betas
/// of the step before, the second one the number of steps before this one.
void ApplyAdamW(Call& call);

}  // namespace advstep_operators
