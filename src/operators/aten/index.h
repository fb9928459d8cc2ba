// SPDX-License-Identifier: Apache-2.0
// What lines of shapes and indexing need.

#pragma once

#include "src/operators/aten/call.h"
#include "src/operators/aten/helpers.h"

namespace advstep_operators {

/// Returns start + step * i as often as `out` has elements: rounding may give one more or less than
/// the caller has counted. `inclusive`: the series ends with `end`, not before it.
at::Tensor Series(const at::Scalar& start, const at::Scalar& end, const at::Scalar& step,
                  bool inclusive, const at::Tensor& out);

/// Returns the indices of rows of grad, each of which must name one of so many weights: ATen counts
/// them without a look.
at::Tensor RowsOf(const at::Tensor& grad, const at::Tensor& indices, int64_t weights);

/// Returns index tensors in dtypes that ATen takes; absent ones stay absent.
c10::List<std::optional<at::Tensor>> Indices(const std::vector<at::Tensor>& indices);

/// Returns numbers as an index tensor on the device of `like`.
at::Tensor IndexOf(at::IntArrayRef numbers, const at::Tensor& like);

/// Returns the slices of self along dim that an index of any shape names; a negative one counts
/// from the end.
at::Tensor GatherRows(const at::Tensor& self, int64_t dim, const at::Tensor& index);

/// Returns onValue where the class of an element is, offValue elsewhere, along a new axis.
at::Tensor OneHot(const at::Tensor& self, int64_t classes, const at::Tensor& onValue,
                  const at::Tensor& offValue, int64_t axis);

/// Returns self with source scattered into it: as it is (reduce 0), added (1), or multiplied (2).
at::Tensor ScatterInto(const at::Tensor& self, int64_t dim, const at::Tensor& index,
                       const at::Tensor& source, int64_t reduce);
at::Tensor ScatterInto(const at::Tensor& self, int64_t dim, const at::Tensor& index,
                       const at::Scalar& value, int64_t reduce);

/// Returns data with updates at the places that the last axis of indices names.
at::Tensor ScatterNd(const at::Tensor& data, const at::Tensor& indices, const at::Tensor& updates);

/// Returns self sliced along several axes.
at::Tensor SliceAlong(const at::Tensor& self, at::IntArrayRef starts, at::IntArrayRef ends,
                      at::IntArrayRef axes, at::IntArrayRef steps);

}  // namespace advstep_operators
