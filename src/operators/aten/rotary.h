// SPDX-License-Identifier: Apache-2.0
// Rotary position embeddings.

#pragma once

#include "src/operators/aten/named.h"

namespace advstep_operators {

/// Returns x * cos + r(x) * sin, in float32. r(a, b) = (-b, a): of halves of the last dim (mode 0),
/// of neighbours (1), or of quarters in each half (2). In mode 3 the even elements of x become its
/// first half before, and the odd ones its second.
at::Tensor Rotate(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin, int64_t mode);

/// Returns the gradients of x, cos and sin; those of cos and sin are undefined without x.
std::tuple<at::Tensor, at::Tensor, at::Tensor> RotateBackward(const at::Tensor& dy,
                                                              const at::Tensor& cos,
                                                              const at::Tensor& sin,
                                                              const at::Tensor& x, int64_t mode);

/// Returns queries and keys, rotated. layout 1 to 4 is BSND, SBND, BNSD, TND; cos and sin have that
/// layout, too.
std::tuple<at::Tensor, at::Tensor> RotateBoth(const at::Tensor& query, const at::Tensor& key,
                                              const at::Tensor& cos, const at::Tensor& sin,
                                              int64_t layout, std::string_view mode);

/// Rotates the first dims of each head of [tokens, heads * headSize] by the rows of a cache that
/// the positions name; a row has cosines in its first half and sines in its second. With [3,
/// tokens] positions, mropeSection says how many columns of a half each of the three has.
void RopeWithCache(Call& call);

}  // namespace advstep_operators
