// SPDX-License-Identifier: Apache-2.0
// A tensor as operators see it: plain values, and the memory that it covers.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "src/base/checked_math.h"

namespace advstep {

/// No memory holds more elements. The limit ensures that byte counts and end addresses fit 64 bits.
inline constexpr int64_t kMostElements = int64_t{1} << 56;

/// A tensor as operators see it. Its pointers point into the aclTensor that it describes.
struct TensorView {
    aclDataType dataType = ACL_DT_UNDEFINED;
    aclFormat format = ACL_FORMAT_UNDEFINED;
    int64_t rank = 0;
    const int64_t* dims = nullptr;     // rank entries
    const int64_t* strides = nullptr;  // rank entries, elements
    int64_t offset = 0;                // elements from data to the first element
    int64_t itemSize = 0;              // bytes of one element
    uint8_t* data = nullptr;           // storage address; null while unknown
    int64_t packedBytes = -1;          // result of PackedBytes, if it is known already

    uint8_t* first() const { return data == nullptr ? nullptr : data + offset * itemSize; }
};

/// The device memory of a view: `rows` runs of `rowBytes` that start `strideBytes` apart. A
/// contiguous tensor is one run.
struct MemoryExtent {
    int64_t rows = 0;
    int64_t rowBytes = 0;
    int64_t strideBytes = 0;

    /// The number of bytes from the first byte to the end of the last run.
    int64_t spanBytes() const {
        return rows == 0 || rowBytes == 0 ? 0 : (rows - 1) * strideBytes + rowBytes;
    }
};

/// Returns whether the elements follow one another without a gap. Dimensions of 1 may have any
/// stride.
inline bool IsContiguous(const TensorView& view) {
    int64_t expected = 1;
    for (int64_t axis = view.rank - 1; axis >= 0; --axis) {
        if (view.dims[axis] != 1 && view.strides[axis] != expected) {
            return false;
        }
        if (!CheckedMul(expected, view.dims[axis], &expected)) {
            return false;
        }
    }
    return true;
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

/// Returns the bytes of a contiguous view for which HasExtent holds; -1 for any other.
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

/// Returns whether [begin, begin + bytes) shares a byte with the runs that start at `address`.
bool Overlaps(const uint8_t* begin, int64_t bytes, const uint8_t* address,
              const MemoryExtent& extent);

/// Returns a shape as text, for instance "[4, 2]".
std::string ShapeText(const int64_t* dims, int64_t rank);
inline std::string ShapeText(const std::vector<int64_t>& dims) {
    return ShapeText(dims.data(), static_cast<int64_t>(dims.size()));
}

}  // namespace advstep
