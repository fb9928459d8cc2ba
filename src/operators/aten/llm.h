// SPDX-License-Identifier: Apache-2.0
// What lines of language models need.

#pragma once

#include "src/operators/aten/call.h"

namespace advstep_operators {

/// Returns x / sqrt(mean(x^2) + epsilon) * gamma over the dims of gamma, and the reciprocal root,
/// computed in float32.
std::tuple<at::Tensor, at::Tensor> RmsNorm(const at::Tensor& x, const at::Tensor& gamma,
                                           double epsilon);

/// Returns RmsNorm of the sum, the reciprocal root, and the sum.
std::tuple<at::Tensor, at::Tensor, at::Tensor> AddRmsNorm(const at::Tensor& x1,
                                                          const at::Tensor& x2,
                                                          const at::Tensor& gamma, double epsilon);

/// Returns x * cos + r(x) * sin. r negates and swaps halves of the last dim (mode 0) or neighbours
/// (mode 1).
at::Tensor Rotate(const at::Tensor& x, const at::Tensor& cos, const at::Tensor& sin, int64_t mode);

/// Returns silu(a) * b of the halves a and b of x along dim.
at::Tensor SwiGlu(const at::Tensor& x, int64_t dim);

/// Returns gelu of one half of x along dim times the other half, and that gelu.
std::tuple<at::Tensor, at::Tensor> GeGlu(const at::Tensor& x, int64_t dim, int64_t approximate,
                                         bool activateLeft);

}  // namespace advstep_operators
