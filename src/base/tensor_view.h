// SPDX-License-Identifier: Apache-2.0
// A tensor as operators see it, in plain values, and the memory that it covers.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "advance_step/operator/tensor_view.hpp"

namespace advstep {

using advance_step::op::HasExtent;
using advance_step::op::IsContiguous;
using advance_step::op::kMostElements;
using advance_step::op::PackedBytes;
using advance_step::op::ShapeText;
using advance_step::op::TensorView;

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

/// Returns whether [begin, begin + bytes) shares a byte with the runs that start at `address`.
bool Overlaps(const uint8_t* begin, int64_t bytes, const uint8_t* address,
              const MemoryExtent& extent);

/// Returns a shape as text, for instance "[4, 2]".
inline std::string ShapeText(const std::vector<int64_t>& dims) {
    return ShapeText(dims.data(), static_cast<int64_t>(dims.size()));
}

}  // namespace advstep
