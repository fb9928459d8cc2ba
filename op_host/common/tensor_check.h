// The standard messages: `<argument> <what it is>; expected <rule>`.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "src/base/status.h"
#include "src/base/tensor_view.h"

namespace advstep {

/// 161002 unless the dtype is one of these.
Status CheckDataType(const TensorView& view, const char* name,
                     std::initializer_list<aclDataType> expected);

/// 161002 unless the format is ND.
Status CheckFormat(const TensorView& view, const char* name);

/// 161002 unless elements follow one another, the offset is not negative, and there are not more
/// elements than any memory holds.
Status CheckContiguous(const TensorView& view, const char* name);

/// All three: a contiguous ND tensor of one of these dtypes.
Status CheckLayout(const TensorView& view, const char* name,
                   std::initializer_list<aclDataType> expected);

/// As CheckContiguous, but rows of a matrix may be further apart than they are long.
Status CheckContiguousRows(const TensorView& view, const char* name);

/// A shape in words and numbers, with marks for dims that may be any number.
struct ExpectedShape {
    static constexpr int64_t kAny = -1;        // >= 1
    static constexpr int64_t kAnyOrNone = -2;  // >= 0

    const char* words = "";  // "[numQueries, 1]"
    std::initializer_list<int64_t> dims;
};

/// 561002 unless the shape is one of these; the message names the first.
Status CheckShape(const TensorView& view, const char* name,
                  std::initializer_list<ExpectedShape> expected);

}  // namespace advstep
