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

}  // namespace advstep_operators
