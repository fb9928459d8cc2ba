// SPDX-License-Identifier: Apache-2.0
// Operators on quantised numbers.

#pragma once

#include "src/operators/aten/call.h"

namespace advstep_operators {

/// x @ ((weight + offset) * scale) + bias, with scales for columns, or for groups of
/// antiquantGroupSize rows, computed in float32.
void WeightQuantBatchMatmul(Call& call);

}  // namespace advstep_operators
