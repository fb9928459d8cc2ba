// The standard messages: `<argument> <what it is>; expected <rule>`. What passes is decided here,
// in line, for every call goes this way; the words are made elsewhere.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "src/base/status.h"
#include "src/base/tensor_view.h"

namespace advstep {

/// A shape in words and numbers, with marks for dims that may be any number.
struct ExpectedShape {
    static constexpr int64_t kAny = -1;        // >= 1
    static constexpr int64_t kAnyOrNone = -2;  // >= 0

    const char* words = "";  // "[numQueries, 1]"
    std::initializer_list<int64_t> dims;
};

/// How the checks below word what did not pass.
Status DataTypeError(const TensorView& view, const char* name,
                     std::initializer_list<aclDataType> expected);
Status FormatError(const TensorView& view, const char* name);
Status ExtentError(const TensorView& view, const char* name);
Status ContiguousError(const TensorView& view, const char* name);
Status ShapeError(const TensorView& view, const char* name, const ExpectedShape& expected);

inline bool HasShape(const TensorView& view, const ExpectedShape& expected) {
    if (view.rank != static_cast<int64_t>(expected.dims.size())) {
        return false;
    }
    const int64_t* dim = view.dims;
    for (const int64_t wanted : expected.dims) {
        const bool matches = wanted == ExpectedShape::kAny         ? *dim >= 1
                             : wanted == ExpectedShape::kAnyOrNone ? *dim >= 0
                                                                   : *dim == wanted;
        if (!matches) {
            return false;
        }
        ++dim;
    }
    return true;
}

/// 161002 unless the dtype is one of these.
inline Status CheckDataType(const TensorView& view, const char* name,
                            std::initializer_list<aclDataType> expected) {
    for (const aclDataType type : expected) {
        if (view.dataType == type) {
            return {};
        }
    }
    return DataTypeError(view, name, expected);
}

/// 161002 unless the format is ND.
inline Status CheckFormat(const TensorView& view, const char* name) {
    return view.format == ACL_FORMAT_ND ? Status() : FormatError(view, name);
}

/// 161002 unless elements follow one another, the offset is not negative, and there are not more
/// elements than any memory holds.
inline Status CheckContiguous(const TensorView& view, const char* name) {
    const bool packed = view.packedBytes >= 0 || (HasExtent(view) && IsContiguous(view));
    return packed ? Status() : ContiguousError(view, name);
}

/// All three: a contiguous ND tensor of one of these dtypes.
inline Status CheckLayout(const TensorView& view, const char* name,
                          std::initializer_list<aclDataType> expected) {
    ADVSTEP_RETURN_IF_ERROR(CheckDataType(view, name, expected));
    ADVSTEP_RETURN_IF_ERROR(CheckFormat(view, name));
    return CheckContiguous(view, name);
}

/// As CheckContiguous, but rows of a matrix may be further apart than they are long.
Status CheckContiguousRows(const TensorView& view, const char* name);

/// 561002 unless the shape is one of these; the message names the first.
inline Status CheckShape(const TensorView& view, const char* name,
                         std::initializer_list<ExpectedShape> expected) {
    for (const ExpectedShape& shape : expected) {
        if (HasShape(view, shape)) {
            return {};
        }
    }
    return ShapeError(view, name, *expected.begin());
}

/// 561002 unless the shape is [n] or [n, 1]; `words` is the first of them.
inline Status CheckVector(const TensorView& view, const char* name, const char* words, int64_t n) {
    const bool matches =
        (view.rank == 1 || (view.rank == 2 && view.dims[1] == 1)) && view.dims[0] == n;
    return matches ? Status() : ShapeError(view, name, {words, {n}});
}

}  // namespace advstep
