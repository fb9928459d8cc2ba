// SPDX-License-Identifier: Apache-2.0
// What lines of reductions need.

#pragma once

#include "src/operators/aten/call.h"

namespace advstep_operators {

/// Returns what std and var subtract from the count. As an integer it would choose ATen's overload
/// whose argument is a bool, "unbiased".
inline std::optional<at::Scalar> Correction(int64_t correction) { return at::Scalar(correction); }

/// Returns the dims of a reduction: all of them if the call names none.
inline std::vector<int64_t> DimsOf(at::IntArrayRef dims, const at::Tensor& self) {
    std::vector<int64_t> all = dims.vec();
    for (int64_t axis = 0; dims.empty() && axis < self.dim(); ++axis) {
        all.push_back(axis);
    }
    return all;
}

/// Returns the product of all elements, or along a dim. Those of float16 and bfloat16 are rounded
/// once; ATen rounds them at each step.
at::Tensor ProductOf(const at::Tensor& self, std::optional<at::ScalarType> dtype);
at::Tensor ProductOf(const at::Tensor& self, int64_t dim, bool keepDim,
                     std::optional<at::ScalarType> dtype);

/// Returns the sums of the elements up to each, or with `exclusive` before it, from the end on with
/// `reverse`.
at::Tensor CumsumWays(const at::Tensor& self, int64_t dim, bool exclusive, bool reverse);

}  // namespace advstep_operators
