// SPDX-License-Identifier: Apache-2.0
// What lines of products of matrices need.

#pragma once

#include "src/operators/aten/call.h"

namespace advstep_operators {

/// Returns the product of matrices, batches of them and vectors, in their common dtype.
at::Tensor Product(const at::Tensor& self, const at::Tensor& other);

/// The kernel of a function of two matrices and an output: places 0, 1 and 2.
void Multiply(Call& call);

/// The product of matrices [B, M, K] and [B, K, N] that lie in other orders, as [M, B, N]; with a
/// scale, as INT8 of [M, 1, B * N]; with a split factor, as [factor, M, B / factor * N].
void MultiplyOrdered(Call& call);

/// y = relu or gelu of x1 @ x2 + bias, or its sum or product with x3.
void MultiplyAndFuse(Call& call);

/// Returns beta * self + alpha * (one * other).
at::Tensor AddProduct(const at::Tensor& self, const at::Tensor& one, const at::Tensor& other,
                      const at::Scalar& beta, const at::Scalar& alpha);

/// Returns the solution X of A X = b, or of its transpose, and a copy of A.
std::tuple<at::Tensor, at::Tensor> SolveTriangular(const at::Tensor& b, const at::Tensor& A,
                                                   bool upper, bool transpose, bool unitriangular);

}  // namespace advstep_operators
