// SPDX-License-Identifier: Apache-2.0
// Attention of inference: the kernels of FusedInferAttentionScore, PromptFlashAttention and
// IncreFlashAttention in all their versions.

#pragma once

#include "src/operators/aten/call.h"

namespace advstep_operators {

/// softmax(scale * q kT + pse, without hidden positions) v for each request, in float32. A query
/// that sees no key has the result 0.
void InferAttention(Call& call);

/// The same for a function whose lengths are those of the keys, and whose queries are one token.
void IncrementalAttention(Call& call);

}  // namespace advstep_operators
