// SPDX-License-Identifier: Apache-2.0
// Rows by their places, where a place may be none.

#pragma once

#include <ATen/ATen.h>

namespace advstep_operators {

/// Returns whole numbers in int64, flat. Refuses those that are not from `least` to below `end`,
/// with the number and where it is.
at::Tensor Places(const char* name, const at::Tensor& places, int64_t least, int64_t end);

/// Returns the rows of a matrix at the places, in float32; zeros for places that are not 0 to below
/// its rows.
at::Tensor RowsAt(const at::Tensor& matrix, const at::Tensor& places);

/// Returns a matrix of so many rows, with the given rows at their places. Rows of places that are
/// not 0 to below `count` are left out.
at::Tensor RowsInto(int64_t count, const at::Tensor& rows, const at::Tensor& places);

/// Returns where each number lies in a stable sort, and the order of that sort.
struct Sorting {
    at::Tensor order;   // the place in the list of the i-th smallest number
    at::Tensor places;  // which smallest number each one of the list is
};
Sorting Sorted(const at::Tensor& numbers);

}  // namespace advstep_operators
