// SPDX-License-Identifier: Apache-2.0
// What a token is drawn from.

#pragma once

#include "src/operators/aten/named.h"

namespace advstep_operators {

/// Leaves the logits of each row that are among the k largest, and the largest ones whose
/// probabilities reach p together.
void ApplyTopKTopP(Call& call);

/// As ApplyTopKTopP, and the number of the largest of probability / (q + eps).
void TopKTopPSample(Call& call);

/// Draws by a seed and an offset in tensors.
void MultinomialTensor(Call& call);

}  // namespace advstep_operators
