// SPDX-License-Identifier: Apache-2.0
// Shapes and indexing where one call of ATen does not do.

#include "src/operators/aten/index.h"

#include <cmath>

namespace advstep_operators {

at::Tensor Series(const at::Scalar& start, const at::Scalar& end, const at::Scalar& step,
                  bool inclusive, const at::Tensor& out) {
    const double length = (end.toDouble() - start.toDouble()) / step.toDouble();
    TORCH_CHECK_VALUE(std::isfinite(length) && length >= 0, "start, end and step are ", start, ", ",
                      end, " and ", step, "; expected steps that lead from start to end");
    const double count = inclusive ? std::floor(length) + 1 : std::ceil(length);
    const int64_t wanted = out.numel();
    TORCH_CHECK_VALUE(std::abs(static_cast<double>(wanted) - count) <= 1, "out has ", wanted,
                      " elements; expected ", count, ", as start, end and step say");
    const bool whole = start.isIntegral(false) && end.isIntegral(false) && step.isIntegral(false);
    const at::Tensor places =
        at::arange(wanted, at::TensorOptions(whole ? at::kLong : at::kDouble).device(out.device()));
    return at::add(at::mul(places, step), start);
}

at::Tensor RowsOf(const at::Tensor& grad, const at::Tensor& indices, int64_t weights) {
    TORCH_CHECK_VALUE(grad.dim() > 0 && grad.sizes().slice(0, grad.sizes().size() - 1).vec() ==
                                            indices.sizes().vec(),
                      "grad has shape ", grad.sizes(), "; expected that of indices, ",
                      indices.sizes(), ", and a dim of features");
    return IndexBelow(indices, weights, "indices");
}

c10::List<std::optional<at::Tensor>> Indices(const std::vector<at::Tensor>& indices) {
    c10::List<std::optional<at::Tensor>> list;
    for (const at::Tensor& index : indices) {
        if (!index.defined() || index.numel() == 0) {
            // Clients say "all along this dim" by an empty tensor, too.
            list.push_back(index.defined() && index.dim() > 1
                               ? std::optional<at::Tensor>(Index(index))
                               : std::nullopt);
        } else if (index.scalar_type() == at::kBool || index.scalar_type() == at::kByte) {
            list.push_back(index);
        } else {
            list.push_back(Index(index));
        }
    }
    return list;
}

at::Tensor IndexOf(at::IntArrayRef numbers, const at::Tensor& like) {
    return at::tensor(numbers, at::TensorOptions(at::kLong)).to(like.device());
}

at::Tensor GatherRows(const at::Tensor& self, int64_t dim, const at::Tensor& index) {
    const at::Tensor flat = Index(index).reshape({-1});
    const int64_t axis = at::maybe_wrap_dim(dim, self.dim());
    const int64_t size = self.dim() > 0 ? self.size(axis) : 1;
    const at::Tensor rows =
        at::index_select(self, axis, at::where(at::lt(flat, 0), at::add(flat, size), flat));
    std::vector<int64_t> shape = self.sizes().vec();
    if (!shape.empty()) {
        shape.erase(shape.begin() + axis);
    }
    shape.insert(shape.begin() + axis, index.sizes().begin(), index.sizes().end());
    return rows.reshape(shape);
}

at::Tensor OneHot(const at::Tensor& self, int64_t classes, const at::Tensor& onValue,
                  const at::Tensor& offValue, int64_t axis) {
    const at::Tensor numbers =
        at::arange(classes, at::TensorOptions(at::kLong).device(self.device()));
    const at::Tensor is = at::eq(Index(self).unsqueeze(-1), numbers);
    const at::Tensor hot = at::where(is, onValue.reshape({}), offValue.reshape({}));
    return at::movedim(hot, -1, axis);
}

at::Tensor ScatterInto(const at::Tensor& self, int64_t dim, const at::Tensor& index,
                       const at::Tensor& source, int64_t reduce) {
    TORCH_CHECK_VALUE(reduce >= 0 && reduce <= 2, "reduce is ", reduce, "; expected 0, 1 or 2");
    const at::Tensor from = source.to(self.scalar_type());
    return reduce == 0
               ? at::scatter(self, dim, Index(index), from)
               : at::scatter(self, dim, Index(index), from, reduce == 1 ? "add" : "multiply");
}

at::Tensor ScatterInto(const at::Tensor& self, int64_t dim, const at::Tensor& index,
                       const at::Scalar& value, int64_t reduce) {
    TORCH_CHECK_VALUE(reduce >= 0 && reduce <= 2, "reduce is ", reduce, "; expected 0, 1 or 2");
    return reduce == 0
               ? at::scatter(self, dim, Index(index), value)
               : at::scatter(self, dim, Index(index), value, reduce == 1 ? "add" : "multiply");
}

at::Tensor ScatterNd(const at::Tensor& data, const at::Tensor& indices, const at::Tensor& updates) {
    const at::Tensor places = Index(indices);
    c10::List<std::optional<at::Tensor>> list;
    for (int64_t axis = 0; axis < places.size(-1); ++axis) {
        list.push_back(places.select(-1, axis));
    }
    return at::index_put(data, list, updates.to(data.scalar_type()));
}

at::Tensor SliceAlong(const at::Tensor& self, at::IntArrayRef starts, at::IntArrayRef ends,
                      at::IntArrayRef axes, at::IntArrayRef steps) {
    TORCH_CHECK_VALUE(starts.size() == ends.size() && starts.size() == axes.size() &&
                          starts.size() == steps.size(),
                      "starts, ends, axes and steps have ", starts.size(), ", ", ends.size(), ", ",
                      axes.size(), " and ", steps.size(), " numbers; expected as many each");
    at::Tensor sliced = self;
    for (size_t place = 0; place < axes.size(); ++place) {
        sliced = at::slice(sliced, axes[place], starts[place], ends[place], steps[place]);
    }
    return sliced;
}

}  // namespace advstep_operators
