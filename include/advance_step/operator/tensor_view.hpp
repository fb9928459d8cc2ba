// SPDX-License-Identifier: Apache-2.0
/// A tensor as operators see it, in plain values. Part of operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_TENSOR_VIEW_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_TENSOR_VIEW_HPP_

#include <cstdint>
#include <string>

#include "advance_step/operator/core.h"

namespace advance_step::op {

/// The most elements of a tensor, more than any memory holds. With this limit byte counts and end
/// addresses fit 64 bits.
inline constexpr int64_t kMostElements = int64_t{1} << 56;

/// A tensor as operators see it. Its pointers point into the aclTensor that it describes.
struct TensorView : AdvStepTensorView {
    constexpr TensorView()
        : AdvStepTensorView{
              ACL_DT_UNDEFINED, ACL_FORMAT_UNDEFINED, 0, nullptr, nullptr, 0, 0, nullptr, -1} {}

    /// Returns the address of the first element; null while the storage address is unknown. It is
    /// computed as a number, because the storage address may be any.
    uint8_t* first() const {
        return data == nullptr
                   ? nullptr
                   : reinterpret_cast<uint8_t*>(reinterpret_cast<uintptr_t>(data) +
                                                static_cast<uintptr_t>(offset * itemSize));
    }
    /// Returns whether the call has this tensor. Only an optional tensor may be missing.
    bool isPresent() const { return dataType != ACL_DT_UNDEFINED; }
};
static_assert(sizeof(TensorView) == sizeof(AdvStepTensorView), "views are passed as plain arrays");

/// Returns whether the elements follow one another without gaps. Dimensions of 1, and all
/// dimensions of a tensor without elements, may have any stride.
inline bool IsContiguous(const TensorView& view) {
    int64_t expected = 1;
    bool follow = true;
    bool isEmpty = false;
    for (int64_t axis = view.rank - 1; axis >= 0; --axis) {
        follow &= view.dims[axis] == 1 || view.strides[axis] == expected;
        isEmpty |= view.dims[axis] == 0;
        follow &= !__builtin_mul_overflow(expected, view.dims[axis], &expected);
    }
    return follow || isEmpty;
}

/// Returns whether a view's offset and number of elements are small enough to compute addresses.
inline bool HasExtent(const TensorView& view) {
    int64_t elements = 1;
    for (int64_t axis = 0; axis < view.rank; ++axis) {
        if (__builtin_mul_overflow(elements, view.dims[axis] < 1 ? 1 : view.dims[axis],
                                   &elements)) {
            return false;
        }
    }
    return elements <= kMostElements && view.offset >= 0 && view.offset <= kMostElements;
}

/// Returns the bytes of a contiguous view for which HasExtent is true; -1 for any other view.
inline int64_t PackedBytes(const TensorView& view) {
    if (!HasExtent(view) || !IsContiguous(view)) {
        return -1;
    }
    int64_t bytes = view.itemSize;
    for (int64_t axis = 0; axis < view.rank; ++axis) {
        if (view.dims[axis] < 0) {
            return -1;
        }
        bytes *= view.dims[axis];
    }
    return bytes;
}

/// Returns the number of elements of a checked view.
inline int64_t ElementsOf(const TensorView& view) {
    int64_t elements = 1;
    for (int64_t axis = 0; axis < view.rank; ++axis) {
        elements *= view.dims[axis];
    }
    return elements;
}

/// Returns a shape as text, for instance "[4, 2]".
inline std::string ShapeText(const int64_t* dims, int64_t rank) {
    std::string text;
    for (int64_t axis = 0; axis < rank; ++axis) {
        text += (axis == 0 ? "" : ", ") + std::to_string(dims[axis]);
    }
    return "[" + text + "]";
}

}  // namespace advance_step::op

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_TENSOR_VIEW_HPP_
