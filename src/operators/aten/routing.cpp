// SPDX-License-Identifier: Apache-2.0
// Rows by their places.

#include "src/operators/aten/routing.h"

namespace advstep_operators {
namespace {

at::Tensor IsRow(const at::Tensor& places, int64_t count) {
    return at::logical_and(at::ge(places, 0), at::lt(places, count));
}

}  // namespace

at::Tensor Places(const char* name, const at::Tensor& places, int64_t least, int64_t end) {
    TORCH_CHECK_VALUE(at::isIntegralType(places.scalar_type(), false), name, " has dtype ",
                      places.scalar_type(), "; expected whole numbers");
    const at::Tensor flat = places.to(at::kLong).reshape({-1}).contiguous();
    if (flat.is_meta()) {
        return flat;
    }
    const int64_t* const numbers = flat.const_data_ptr<int64_t>();
    for (int64_t row = 0; row < flat.numel(); ++row) {
        TORCH_CHECK_INDEX(numbers[row] >= least && numbers[row] < end, name, " has ", numbers[row],
                          " at place ", row, "; expected ", least, " to ", end - 1);
    }
    return flat;
}

at::Tensor RowsAt(const at::Tensor& matrix, const at::Tensor& places) {
    const int64_t count = matrix.size(0);
    if (count == 0) {
        return at::zeros({places.numel(), matrix.size(1)}, matrix.options().dtype(at::kFloat));
    }
    const at::Tensor rows =
        at::index_select(matrix, 0, at::clamp(places, 0, count - 1)).to(at::kFloat);
    return at::where(IsRow(places, count).unsqueeze(1), rows, at::zeros_like(rows));
}

at::Tensor RowsInto(int64_t count, const at::Tensor& rows, const at::Tensor& places) {
    // A row more takes those without a place.
    at::Tensor matrix = at::zeros({count + 1, rows.size(1)}, rows.options());
    const at::Tensor kept = at::where(IsRow(places, count), places, at::full_like(places, count));
    return at::index_copy(matrix, 0, kept, rows).narrow(0, 0, count);
}

Sorting Sorted(const at::Tensor& numbers) {
    const at::Tensor order = std::get<1>(at::sort(numbers, true, 0, false));
    const at::Tensor counted =
        at::arange(numbers.numel(), at::TensorOptions(at::kLong).device(numbers.device()));
    return {order, at::scatter(at::zeros_like(order), 0, order, counted)};
}

}  // namespace advstep_operators
