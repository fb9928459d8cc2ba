// SPDX-License-Identifier: Apache-2.0
// Checks tensors against the rows of a signature. The test whether all pass is in line, since every
// plan needs it. The words of a failure, `<argument> <what it is>; expected <rule>`, are made out
// of line.

#pragma once

#include <utility>

#include "op_host/common/signature.h"
#include "src/base/status.h"
#include "src/base/tensor_view.h"

namespace advstep {

/// 161002 unless the tensor has one of the dtypes, format ND and the layout of its row, and its
/// offset and number of elements fit memory. `narrow`: the call takes narrow tensors.
Status CheckLayout(const TensorView& view, const TensorArgument& argument, bool narrow);

/// 561002 unless the tensor has one of the shapes of its row.
Status CheckShape(const TensorView& view, const TensorArgument& argument, const int64_t* dims);

/// A dim of a tensor whose shape has not been checked: 0 where the rank is too low.
inline int64_t DimOrZero(const TensorView& view, int64_t axis) {
    return view.rank > axis ? view.dims[axis] : 0;
}

/// Whether a view has the layout, found out from its dims and strides.
bool HasLayout(const TensorView& view, Layout layout);

[[gnu::always_inline]] inline bool HasDataType(const TensorView& view, const DataTypes& types,
                                               bool narrow) {
    return view.dataType == types.first ||
           (view.dataType == types.second && (narrow || !types.secondIfNarrow));
}

[[gnu::always_inline]] inline bool HasShape(const TensorView& view, const Shape& shape,
                                            const int64_t* dims) {
    if (view.rank != shape.rank) {
        return false;
    }
    for (int axis = 0; axis < shape.rank; ++axis) {
        const int64_t wanted = dims[shape.dims[axis]];
        const int64_t dim = view.dims[axis];
        if (wanted > kAtLeastOne ? dim != wanted : dim < wanted - kAtLeastZero) {
            return false;
        }
    }
    return true;
}

/// Whether CheckLayout passes.
[[gnu::always_inline]] inline bool PassesLayout(const TensorView& view,
                                                const TensorArgument& argument, bool narrow) {
    return HasDataType(view, argument.types, narrow) && view.format == ACL_FORMAT_ND &&
           (view.packedBytes >= 0 || HasLayout(view, argument.layout));
}

/// Whether CheckShape passes.
[[gnu::always_inline]] inline bool PassesShape(const TensorView& view,
                                               const TensorArgument& argument,
                                               const int64_t* dims) {
    return HasShape(view, argument.shapes.first, dims) ||
           HasShape(view, argument.shapes.second, dims);
}

// All rows, without a loop.
template <const auto& kSignature, size_t... kPlaces>
bool PassLayouts(const TensorView* views, bool narrow, std::index_sequence<kPlaces...>) {
    return (PassesLayout(views[kPlaces], kSignature[kPlaces], narrow) && ...);
}
template <const auto& kSignature, size_t... kPlaces>
bool PassShapes(const TensorView* views, const int64_t* dims, std::index_sequence<kPlaces...>) {
    return (PassesShape(views[kPlaces], kSignature[kPlaces], dims) && ...);
}

/// CheckLayout for the first tensor, in signature order, that does not pass.
template <const auto& kSignature>
Status CheckLayouts(const TensorView* views, bool narrow = false) {
    if (PassLayouts<kSignature>(views, narrow, std::make_index_sequence<kSignature.size()>())) {
        return {};
    }
    for (const TensorArgument& argument : kSignature) {
        ADVSTEP_RETURN_IF_ERROR(CheckLayout(*views++, argument, narrow));
    }
    return {};
}

/// CheckShape for the first tensor, in signature order, that does not pass.
template <const auto& kSignature, size_t kDims>
Status CheckShapes(const TensorView* views, const CallDims<kDims>& dims) {
    if (PassShapes<kSignature>(views, dims.data(), std::make_index_sequence<kSignature.size()>())) {
        return {};
    }
    for (const TensorArgument& argument : kSignature) {
        ADVSTEP_RETURN_IF_ERROR(CheckShape(*views++, argument, dims.data()));
    }
    return {};
}

}  // namespace advstep
