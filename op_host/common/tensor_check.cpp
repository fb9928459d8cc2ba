// SPDX-License-Identifier: Apache-2.0
// Implements the standard checks of tensors and their messages.

#include "op_host/common/tensor_check.h"

#include <string>

#include "op_host/common/error_codes.h"
#include "src/base/dtype.h"

namespace advstep {
namespace {

Status DataTypeError(const TensorView& view, const TensorArgument& argument, bool narrow) {
    const DataTypes& types = argument.types;
    std::string names = NameOf(types.first);
    if (types.second != types.first && (narrow || !types.secondIfNarrow)) {
        names += " or " + NameOf(types.second);
    }
    return Error(kParamInvalid, "{} has dtype {}; expected {}", argument.name,
                 NameOf(view.dataType), names);
}

Status ExtentError(const TensorView& view, const char* name) {
    return view.offset < 0 || view.offset > kMostElements
               ? Error(kParamInvalid, "{} has view offset {}; expected 0 <= offset <= {}", name,
                       view.offset, kMostElements)
               : Error(kParamInvalid, "{} has shape {}; expected at most {} elements", name,
                       ShapeText(view.dims, view.rank), kMostElements);
}

bool IsMatrixOfRows(const TensorView& view, Layout layout) {
    return layout == Layout::kContiguousRows && view.rank == 2;
}

bool HasContiguousRows(const TensorView& view) {
    const bool inner = view.dims[1] <= 1 || view.strides[1] == 1;
    int64_t end = 0;
    const bool outer =
        view.dims[0] <= 1 ||
        (view.strides[0] >= view.dims[1] &&
         !__builtin_mul_overflow(view.strides[0], view.dims[0], &end) && end <= kMostElements);
    return inner && outer;
}

}  // namespace

bool HasLayout(const TensorView& view, Layout layout) {
    return HasExtent(view) &&
           (IsMatrixOfRows(view, layout) ? HasContiguousRows(view) : IsContiguous(view));
}

Status CheckLayout(const TensorView& view, const TensorArgument& argument, bool narrow) {
    if (PassesLayout(view, argument, narrow)) {
        return {};
    }
    const char* const name = argument.name;
    if (!HasDataType(view, argument.types, narrow)) {
        return DataTypeError(view, argument, narrow);
    }
    if (view.format != ACL_FORMAT_ND) {
        return Error(kParamInvalid, "{} has format {}; expected {}", name, NameOf(view.format),
                     NameOf(ACL_FORMAT_ND));
    }
    if (!HasExtent(view)) {
        return ExtentError(view, name);
    }
    const std::string shape = ShapeText(view.dims, view.rank);
    const std::string strides = ShapeText(view.strides, view.rank);
    return IsMatrixOfRows(view, argument.layout)
               ? Error(kParamInvalid,
                       "{} has shape {} and strides {}; expected an inner stride of 1 and rows at "
                       "least {} apart",
                       name, shape, strides, view.dims[1])
               : Error(kParamInvalid, "{} has shape {} and strides {}; expected it contiguous",
                       name, shape, strides);
}

Status CheckShape(const TensorView& view, const TensorArgument& argument, const int64_t* dims) {
    if (PassesShape(view, argument, dims)) {
        return {};
    }
    const Shape& shape = argument.shapes.first;
    std::string numbers;
    for (int axis = 0; axis < shape.rank; ++axis) {
        const int64_t dim = dims[shape.dims[axis]];
        numbers += numbers.empty() ? "" : ", ";
        numbers += dim == kAtLeastOne ? ">= 1" : dim == kAtLeastZero ? ">= 0" : std::to_string(dim);
    }
    return Error(kTilingError, "{} has shape {}; expected {} = [{}]", argument.name,
                 ShapeText(view.dims, view.rank), shape.words, numbers);
}

}  // namespace advstep
