// SPDX-License-Identifier: Apache-2.0
// What types of graphs need beside CANN's functions.

#pragma once

#include <ATen/ATen.h>

namespace advstep_operators {

/// Returns the numbers as a tensor where `out` is.
inline at::Tensor Numbers(at::IntArrayRef numbers, const at::Tensor& out) {
    return out.is_meta()
               ? at::empty({static_cast<int64_t>(numbers.size())}, out.options().dtype(at::kLong))
               : at::tensor(numbers);
}

}  // namespace advstep_operators
