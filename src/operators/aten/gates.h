// SPDX-License-Identifier: Apache-2.0
// Gated activations, computed in float32.

#pragma once

#include "src/operators/aten/named.h"

namespace advstep_operators {

/// Returns silu(a) * b of the halves a and b of x along dim.
at::Tensor SwiGlu(const at::Tensor& x, int64_t dim);

/// Returns the gradient of x. With s = sigmoid(a): d silu(a) = s * (1 + a * (1 - s)).
at::Tensor SwiGluGrad(const at::Tensor& gradient, const at::Tensor& x, int64_t dim);

/// Returns gelu of one half of x along dim times the other half, and that gelu.
std::tuple<at::Tensor, at::Tensor> GeGlu(const at::Tensor& x, int64_t dim, int64_t approximate,
                                         bool activateLeft);
at::Tensor GeGluGrad(const at::Tensor& gradient, const at::Tensor& x, const at::Tensor& gelu,
                     int64_t dim, int64_t approximate, bool activateLeft);

/// out = gelu(first half of the last dim) * second half.
void GeluMul(Call& call);

/// Returns silu(x) * y.
at::Tensor SiluMul(const at::Tensor& x, const at::Tensor& y);

/// min(a, limit) * sigmoid(alpha * min(a, limit)) * (clamp(b, -limit, limit) + bias) for the first
/// rows, as many as the groups have.
void ClippedSwiglu(Call& call);
void ClippedSwigluGrad(Call& call);

/// SwiGlu, and its rows rounded to a few bits with the scales of their groups.
void SwiGluQuant(Call& call);

/// As SwiGluQuant, of products of INT32 that are first multiplied with scales of columns and rows.
void DequantSwigluQuant(Call& call);

void GeluQuant(Call& call);

}  // namespace advstep_operators
