// SPDX-License-Identifier: Apache-2.0
// What lines of operators on lists need.

#pragma once

#include "src/operators/aten/call.h"

namespace advstep_operators {

/// Returns the value of a tensor of one element. In a check of a call, which has no data, it is 1.
at::Scalar Number(const at::Tensor& tensor);
std::vector<at::Scalar> Numbers(const at::Tensor& tensor, size_t count);

std::vector<at::Tensor> ZeroesLike(const std::vector<at::Tensor>& tensors);

/// Returns the gradients times invScale, and foundInf with 1 where any of them is not finite.
std::tuple<std::vector<at::Tensor>, at::Tensor> Unscaled(const std::vector<at::Tensor>& gradients,
                                                         const at::Tensor& foundInf,
                                                         const at::Tensor& invScale);

}  // namespace advstep_operators
