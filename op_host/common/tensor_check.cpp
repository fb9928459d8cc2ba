#include "op_host/common/tensor_check.h"

#include <string>

#include "op_host/common/error_codes.h"
#include "src/base/dtype.h"

namespace advstep {

Status DataTypeError(const TensorView& view, const char* name,
                     std::initializer_list<aclDataType> expected) {
    std::string names;
    for (const aclDataType type : expected) {
        names += names.empty() ? NameOf(type) : " or " + NameOf(type);
    }
    return Error(kParamInvalid, "{} has dtype {}; expected {}", name, NameOf(view.dataType), names);
}

Status FormatError(const TensorView& view, const char* name) {
    return Error(kParamInvalid, "{} has format {}; expected {}", name, NameOf(view.format),
                 NameOf(ACL_FORMAT_ND));
}

Status ExtentError(const TensorView& view, const char* name) {
    return view.offset < 0 || view.offset > kMostElements
               ? Error(kParamInvalid, "{} has view offset {}; expected 0 <= offset <= {}", name,
                       view.offset, kMostElements)
               : Error(kParamInvalid, "{} has shape {}; expected at most {} elements", name,
                       ShapeText(view.dims, view.rank), kMostElements);
}

Status ContiguousError(const TensorView& view, const char* name) {
    if (!HasExtent(view)) {
        return ExtentError(view, name);
    }
    return Error(kParamInvalid, "{} has shape {} and strides {}; expected it contiguous", name,
                 ShapeText(view.dims, view.rank), ShapeText(view.strides, view.rank));
}

Status CheckContiguousRows(const TensorView& view, const char* name) {
    if (view.rank != 2 || view.packedBytes >= 0) {
        return CheckContiguous(view, name);
    }
    if (!HasExtent(view)) {
        return ExtentError(view, name);
    }
    const bool inner = view.dims[1] <= 1 || view.strides[1] == 1;
    int64_t end = 0;
    const bool outer =
        view.dims[0] <= 1 ||
        (view.strides[0] >= view.dims[1] &&
         !__builtin_mul_overflow(view.strides[0], view.dims[0], &end) && end <= kMostElements);
    return inner && outer
               ? Status()
               : Error(kParamInvalid,
                       "{} has shape {} and strides {}; expected an inner stride of 1 and rows at "
                       "least {} apart",
                       name, ShapeText(view.dims, view.rank), ShapeText(view.strides, view.rank),
                       view.dims[1]);
}

Status ShapeError(const TensorView& view, const char* name, const ExpectedShape& expected) {
    std::string numbers;
    for (const int64_t dim : expected.dims) {
        numbers += numbers.empty() ? "" : ", ";
        numbers += dim == ExpectedShape::kAny         ? ">= 1"
                   : dim == ExpectedShape::kAnyOrNone ? ">= 0"
                                                      : std::to_string(dim);
    }
    return Error(kTilingError, "{} has shape {}; expected {} = [{}]", name,
                 ShapeText(view.dims, view.rank), expected.words, numbers);
}

}  // namespace advstep
