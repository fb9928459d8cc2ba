// SPDX-License-Identifier: Apache-2.0
// Normalisation, its gradients, and what follows it. All is computed in float32, but the sum before
// a root mean square norm, which is one of the dtype of x.

#pragma once

#include "src/operators/aten/call.h"

namespace advstep_operators {

/// Returns x / sqrt(mean(x^2) + epsilon) * gamma over the dims of gamma, and the reciprocal root,
/// computed in float32.
std::tuple<at::Tensor, at::Tensor> RmsNorm(const at::Tensor& x, const at::Tensor& gamma,
                                           double epsilon);

/// The gradients with dx rounded.
void RmsNormGradQuant(Call& call);

/// Returns RmsNorm of the sum, the reciprocal root, and the sum.
std::tuple<at::Tensor, at::Tensor, at::Tensor> AddRmsNorm(const at::Tensor& x1,
                                                          const at::Tensor& x2,
                                                          const at::Tensor& gamma, double epsilon);

/// Returns the gradients of x and gamma. With n = x * rstd and g = dy * gamma:
/// dx = rstd * (g - n * mean(g * n)), dgamma = sum(dy * n).
std::tuple<at::Tensor, at::Tensor> RmsNormGrad(const at::Tensor& dy, const at::Tensor& x,
                                               const at::Tensor& rstd, const at::Tensor& gamma);

/// As AddRmsNorm, whose norm and sum are written over x1 and x2.
std::tuple<at::Tensor, at::Tensor, at::Tensor> InplaceAddRmsNorm(const at::Tensor& x1,
                                                                 const at::Tensor& x2,
                                                                 const at::Tensor& gamma,
                                                                 double epsilon);

/// Returns the norm twice (for an output of float32 and one of the dtype of x), rstd and the sum.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> AddRmsNormCast(const at::Tensor& x1,
                                                                          const at::Tensor& x2,
                                                                          const at::Tensor& gamma,
                                                                          double epsilon);

/// y = round(norm / scale + offset), or norm * scale without divMode.
void RmsNormQuant(Call& call);
void AddRmsNormQuant(Call& call);

/// A scale for each row, after a product with smooth scales.
void RmsNormDynamicQuant(Call& call);
void AddRmsNormDynamicQuant(Call& call);

/// y = (x - mean) * rstd * gamma + beta.
void LayerNorm(Call& call);

/// LayerNorm of x1 + x2 + bias, and its quantised forms.
void AddLayerNorm(Call& call);
void AddLayerNormGrad(Call& call);
void AddLayerNormQuant(Call& call);

/// LayerNorm of alpha * x + gx.
void DeepNorm(Call& call);
void DeepNormGrad(Call& call);

/// LayerNorm * (1 + scale) + shift, with a row of scale and shift for each request.
void AdaLayerNorm(Call& call);
void AdaLayerNormQuant(Call& call);
void AdaLayerNormBackward(Call& call);

/// The norm of groups of channels, and its SiLU.
void GroupNormSilu(Call& call);
void GroupNormSwish(Call& call);
void GroupNormSiluQuant(Call& call);
void GroupNormSwishGrad(Call& call);

/// The norm of each channel of each request.
void InstanceNorm(Call& call);

}  // namespace advstep_operators
