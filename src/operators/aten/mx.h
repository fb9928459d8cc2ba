// SPDX-License-Identifier: Apache-2.0
// Blocks of numbers with one power of two each: the microscaling formats.

#pragma once

#include "src/operators/aten/named.h"

namespace advstep_operators {

/// Returns powers of two of E8M0, [..., pairs, ..., 2] with one for each block along an axis, as a
/// factor for each of the axis's `size` elements, in float64; NaN for the byte 255.
at::Tensor FactorsOf(const char* name, const at::Tensor& scale, int64_t axis, int64_t size,
                     int64_t block);

}  // namespace advstep_operators
