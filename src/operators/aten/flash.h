// SPDX-License-Identifier: Apache-2.0
// Attention of training: softmax(scale * q kT, without hidden positions) v, and its gradients, in
// float32, request by request.

#pragma once

#include "src/operators/aten/named.h"

namespace advstep_operators {

/// The attention, and the maximum and the sum of each row's powers, eight times in the last dim. A
/// query that sees no key has the result 0.
void FlashAttention(Call& call);

/// With P = softmax: dV = PT dO, dS = P * (dO VT - sum(dO * O)), dQ = scale dS K, dK = scale dST Q.
/// What the forward pass has given is used where the call passes it, and else computed again.
void FlashAttentionGrad(Call& call);

}  // namespace advstep_operators
