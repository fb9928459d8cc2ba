#include "op_host/common/tensor_check.h"

#include <algorithm>
#include <string>

#include "src/base/dtype.h"

namespace advstep {
namespace {

// Codes of acl_meta.h, which is above this layer.
constexpr int32_t kParamInvalid = 161002;
constexpr int32_t kTilingError = 561002;

// More than any memory holds, and few enough that bytes and ends fit 64 bits.
constexpr int64_t kMostElements = int64_t{1} << 56;

Status CheckExtent(const TensorView& view, const char* name) {
    if (view.offset < 0 || view.offset > kMostElements) {
        return Error(kParamInvalid, "{} has view offset {}; expected 0 <= offset <= {}", name,
                     view.offset, kMostElements);
    }
    int64_t elements = 1;
    for (int64_t axis = 0; axis < view.rank; ++axis) {
        const int64_t dim = std::max<int64_t>(view.dims[axis], 1);
        if (dim > kMostElements / elements) {
            return Error(kParamInvalid, "{} has shape {}; expected at most {} elements", name,
                         ShapeText(view.dims, view.rank), kMostElements);
        }
        elements *= dim;
    }
    return {};
}

bool Matches(const TensorView& view, const ExpectedShape& expected) {
    if (view.rank != static_cast<int64_t>(expected.dims.size())) {
        return false;
    }
    return std::equal(expected.dims.begin(), expected.dims.end(), view.dims,
                      [](int64_t wanted, int64_t dim) {
                          return wanted == ExpectedShape::kAny         ? dim >= 1
                                 : wanted == ExpectedShape::kAnyOrNone ? dim >= 0
                                                                       : dim == wanted;
                      });
}

}  // namespace

Status CheckDataType(const TensorView& view, const char* name,
                     std::initializer_list<aclDataType> expected) {
    if (std::find(expected.begin(), expected.end(), view.dataType) != expected.end()) {
        return {};
    }
    std::string names;
    for (const aclDataType type : expected) {
        names += names.empty() ? NameOf(type) : " or " + NameOf(type);
    }
    return Error(kParamInvalid, "{} has dtype {}; expected {}", name, NameOf(view.dataType), names);
}

Status CheckFormat(const TensorView& view, const char* name) {
    return view.format == ACL_FORMAT_ND ? Status()
                                        : Error(kParamInvalid, "{} has format {}; expected {}",
                                                name, NameOf(view.format), NameOf(ACL_FORMAT_ND));
}

Status CheckContiguous(const TensorView& view, const char* name) {
    ADVSTEP_RETURN_IF_ERROR(CheckExtent(view, name));
    return IsContiguous(view)
               ? Status()
               : Error(kParamInvalid, "{} has shape {} and strides {}; expected it contiguous",
                       name, ShapeText(view.dims, view.rank), ShapeText(view.strides, view.rank));
}

Status CheckLayout(const TensorView& view, const char* name,
                   std::initializer_list<aclDataType> expected) {
    ADVSTEP_RETURN_IF_ERROR(CheckDataType(view, name, expected));
    ADVSTEP_RETURN_IF_ERROR(CheckFormat(view, name));
    return CheckContiguous(view, name);
}

Status CheckContiguousRows(const TensorView& view, const char* name) {
    if (view.rank != 2) {
        return CheckContiguous(view, name);
    }
    ADVSTEP_RETURN_IF_ERROR(CheckExtent(view, name));
    const bool inner = view.dims[1] <= 1 || view.strides[1] == 1;
    const bool outer = view.dims[0] <= 1 || (view.strides[0] >= view.dims[1] &&
                                             view.strides[0] <= kMostElements / view.dims[0]);
    return inner && outer
               ? Status()
               : Error(kParamInvalid,
                       "{} has shape {} and strides {}; expected an inner stride of 1 and rows at "
                       "least {} apart",
                       name, ShapeText(view.dims, view.rank), ShapeText(view.strides, view.rank),
                       view.dims[1]);
}

Status CheckShape(const TensorView& view, const char* name,
                  std::initializer_list<ExpectedShape> expected) {
    for (const ExpectedShape& shape : expected) {
        if (Matches(view, shape)) {
            return {};
        }
    }
    const ExpectedShape& first = *expected.begin();
    std::string numbers;
    for (const int64_t dim : first.dims) {
        numbers += numbers.empty() ? "" : ", ";
        numbers += dim == ExpectedShape::kAny         ? ">= 1"
                   : dim == ExpectedShape::kAnyOrNone ? ">= 0"
                                                      : std::to_string(dim);
    }
    return Error(kTilingError, "{} has shape {}; expected {} = [{}]", name,
                 ShapeText(view.dims, view.rank), first.words, numbers);
}

}  // namespace advstep
