// SPDX-License-Identifier: Apache-2.0
// Sizes and names of graph data types, and shapes as text.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/types.h"

namespace advstep::graph {

/// Returns the data type as messages spell it, for instance INT64.
const char* NameOf(ge::DataType dataType);

/// Returns a shape as messages spell it, for instance [8, 4].
std::string ShapeText(const std::vector<int64_t>& dims);

/// Returns the bytes of a tensor. Elements of less than a byte are packed; rank 0 is one element.
/// Returns no value for a data type without a size, for a negative dimension, and for 2^63 bytes or
/// more, which no memory has, and which the sizes of aclnn views cannot count.
std::optional<size_t> ByteSize(const std::vector<int64_t>& dims, ge::DataType dataType);

}  // namespace advstep::graph
