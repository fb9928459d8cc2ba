#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_base.h"

namespace advstep {

/// A tensor as operators see it: plain values that point into the aclTensor they came from.
struct TensorView {
    aclDataType dataType = ACL_DT_UNDEFINED;
    aclFormat format = ACL_FORMAT_UNDEFINED;
    int64_t rank = 0;
    const int64_t* dims = nullptr;     // rank entries
    const int64_t* strides = nullptr;  // rank entries, elements
    int64_t offset = 0;                // elements from data to the first element
    int64_t itemSize = 0;              // bytes of one element
    uint8_t* data = nullptr;           // storage address; null while unknown

    uint8_t* first() const { return data == nullptr ? nullptr : data + offset * itemSize; }
};

/// Device memory of a view: `rows` runs of `rowBytes` that start `strideBytes` apart; a contiguous
/// tensor is one run.
struct MemoryExtent {
    int64_t rows = 0;
    int64_t rowBytes = 0;
    int64_t strideBytes = 0;

    /// From the first byte to the end of the last run.
    int64_t spanBytes() const {
        return rows == 0 || rowBytes == 0 ? 0 : (rows - 1) * strideBytes + rowBytes;
    }
};

/// Whether elements follow one another without a gap (dimensions of 1 may have any stride).
bool IsContiguous(const TensorView& view);

/// Whether [begin, begin + bytes) shares a byte with the runs that start at `address`.
bool Overlaps(const uint8_t* begin, int64_t bytes, const uint8_t* address,
              const MemoryExtent& extent);

/// "[4, 2]"
std::string ShapeText(const int64_t* dims, int64_t rank);
inline std::string ShapeText(const std::vector<int64_t>& dims) {
    return ShapeText(dims.data(), static_cast<int64_t>(dims.size()));
}

}  // namespace advstep
