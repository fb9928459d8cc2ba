// SPDX-License-Identifier: Apache-2.0
/// Checks of tensors against the rows of a signature, with the standard messages. Part of
/// operator.h.
///
/// The test whether all tensors pass is in line, because every plan needs it. The words of a
/// failure, `<argument> <what it is>; expected <rule>`, are made out of line.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_TENSOR_CHECK_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_TENSOR_CHECK_HPP_

#include <algorithm>
#include <string>
#include <utility>

#include "advance_step/operator/signature.hpp"
#include "advance_step/operator/status.hpp"
#include "advance_step/operator/tensor_view.hpp"

namespace advance_step::op {

/// Returns the name of a data type, or its number.
inline std::string NameOf(aclDataType dataType) {
    const char* const name = advstepDataTypeName(dataType);
    return name != nullptr ? name : std::to_string(static_cast<int>(dataType));
}
/// Returns the name of a format, or its number.
inline std::string NameOf(aclFormat format) {
    const char* const name = advstepFormatName(format);
    return name != nullptr ? name : std::to_string(static_cast<int>(format));
}

/// Returns a dim of a tensor whose shape has not been checked; 0 if the rank is too low.
inline int64_t DimOrZero(const TensorView& view, int64_t axis) {
    return view.rank > axis ? view.dims[axis] : 0;
}

/// @cond Inner parts.
namespace detail {

inline bool IsMatrixOfRows(const TensorView& view, Layout layout) {
    return layout == Layout::kContiguousRows && view.rank == 2;
}

inline bool HasContiguousRows(const TensorView& view) {
    const bool inner = view.dims[1] <= 1 || view.strides[1] == 1;
    int64_t end = 0;
    const bool outer =
        view.dims[0] <= 1 ||
        (view.strides[0] >= view.dims[1] &&
         !__builtin_mul_overflow(view.strides[0], view.dims[0], &end) && end <= kMostElements);
    return inner && outer;
}

inline std::string NamesOf(const DataTypes& types, bool narrow) {
    const int count = types.count - (types.lastIfNarrow && !narrow ? 1 : 0);
    std::string names;
    for (int place = 0; place < count; ++place) {
        names += place == 0 ? "" : place + 1 == count ? " or " : ", ";
        names += NameOf(types.list[place]);
    }
    return names;
}

inline Status ExtentError(const TensorView& view, const char* name) {
    return view.offset < 0 || view.offset > kMostElements
               ? Error(kParamInvalid, name, " has view offset ", view.offset,
                       "; expected 0 <= offset <= ", kMostElements)
               : Error(kParamInvalid, name, " has shape ", ShapeText(view.dims, view.rank),
                       "; expected at most ", kMostElements, " elements");
}

}  // namespace detail
/// @endcond

/// Returns whether a view has the layout, by its dims and strides.
inline bool HasLayout(const TensorView& view, Layout layout) {
    return HasExtent(view) &&
           (detail::IsMatrixOfRows(view, layout) ? detail::HasContiguousRows(view)
                                                 : IsContiguous(view));
}

/// Returns whether a view has one of the dtypes. `narrow` is true if the call takes narrow tensors.
[[gnu::always_inline]] inline bool HasDataType(const TensorView& view, const DataTypes& types,
                                               bool narrow) {
    bool has = false;
    for (int place = 0; place < types.count; ++place) {
        has |= view.dataType == types.list[place] &&
               (narrow || !types.lastIfNarrow || place + 1 < types.count);
    }
    return has;
}

/// Returns whether a view has the shape.
[[gnu::always_inline]] inline bool HasShape(const TensorView& view, const Shape& shape,
                                            const int64_t* dims) {
    if (view.rank != shape.rank) {
        return shape.rank == Shape::kAnyRank;
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

/// Returns whether CheckLayout passes.
[[gnu::always_inline]] inline bool PassesLayout(const TensorView& view,
                                                const TensorArgument& argument, bool narrow) {
    if (argument.presence == Presence::kOptional && !view.isPresent()) {
        return true;
    }
    return HasDataType(view, argument.types, narrow) && view.format == ACL_FORMAT_ND &&
           (view.packedBytes >= 0 || HasLayout(view, argument.layout));
}

/// Returns whether CheckShape passes.
[[gnu::always_inline]] inline bool PassesShape(const TensorView& view,
                                               const TensorArgument& argument,
                                               const int64_t* dims) {
    if (argument.presence == Presence::kOptional && !view.isPresent()) {
        return true;
    }
    return HasShape(view, argument.shapes.first, dims) ||
           HasShape(view, argument.shapes.second, dims);
}

/// Checks the dtype, the format (ND) and the layout of a tensor against its row, and that its
/// offset and its number of elements fit memory. `narrow` is true if the call takes narrow tensors.
/// A failure has code 161002.
inline Status CheckLayout(const TensorView& view, const TensorArgument& argument, bool narrow) {
    if (PassesLayout(view, argument, narrow)) {
        return {};
    }
    const char* const name = argument.name;
    if (!HasDataType(view, argument.types, narrow)) {
        return Error(kParamInvalid, name, " has dtype ", NameOf(view.dataType), "; expected ",
                     detail::NamesOf(argument.types, narrow));
    }
    if (view.format != ACL_FORMAT_ND) {
        return Error(kParamInvalid, name, " has format ", NameOf(view.format), "; expected ",
                     NameOf(ACL_FORMAT_ND));
    }
    if (!HasExtent(view)) {
        return detail::ExtentError(view, name);
    }
    const std::string has = Text(name, " has shape ", ShapeText(view.dims, view.rank),
                                 " and strides ", ShapeText(view.strides, view.rank));
    return detail::IsMatrixOfRows(view, argument.layout)
               ? Error(kParamInvalid, has, "; expected an inner stride of 1 and rows ",
                       view.dims[1], " to ", kMostElements / std::max<int64_t>(view.dims[0], 1),
                       " apart")
               : Error(kParamInvalid, has, "; expected it contiguous");
}

/// Checks the shape of a tensor against its row. A failure has code 561002.
inline Status CheckShape(const TensorView& view, const TensorArgument& argument,
                         const int64_t* dims) {
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
    return Error(kTilingError, argument.name, " has shape ", ShapeText(view.dims, view.rank),
                 "; expected ", shape.words, " = [", numbers, "]");
}

/// @cond Inner parts.
namespace detail {

// These check all rows without a loop.
template <const auto& kSignature, size_t... kPlaces>
bool PassLayouts(const TensorView* views, bool narrow, std::index_sequence<kPlaces...>) {
    return (PassesLayout(views[kPlaces], kSignature[kPlaces], narrow) && ...);
}
template <const auto& kSignature, size_t... kPlaces>
bool PassShapes(const TensorView* views, const int64_t* dims, std::index_sequence<kPlaces...>) {
    return (PassesShape(views[kPlaces], kSignature[kPlaces], dims) && ...);
}

}  // namespace detail
/// @endcond

/// Checks all tensors by CheckLayout, and returns the failure of the first one in signature order.
template <const auto& kSignature>
Status CheckLayouts(const TensorView* views, bool narrow = false) {
    constexpr auto kPlaces = std::make_index_sequence<kSignature.size()>();
    if (detail::PassLayouts<kSignature>(views, narrow, kPlaces)) {
        return {};
    }
    for (const TensorArgument& argument : kSignature) {
        ADVSTEP_OP_RETURN_IF_ERROR(CheckLayout(*views++, argument, narrow));
    }
    return {};
}

/// Checks all tensors by CheckShape, and returns the failure of the first one in signature order.
template <const auto& kSignature, size_t kDims>
Status CheckShapes(const TensorView* views, const CallDims<kDims>& dims) {
    constexpr auto kPlaces = std::make_index_sequence<kSignature.size()>();
    if (detail::PassShapes<kSignature>(views, dims.data(), kPlaces)) {
        return {};
    }
    for (const TensorArgument& argument : kSignature) {
        ADVSTEP_OP_RETURN_IF_ERROR(CheckShape(*views++, argument, dims.data()));
    }
    return {};
}

}  // namespace advance_step::op

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_TENSOR_CHECK_HPP_
