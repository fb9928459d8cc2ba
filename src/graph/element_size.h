#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/types.h"

namespace advstep::graph {

/// As a message spells it: INT64, FLOAT, ....
const char* NameOf(ge::DataType dataType);

/// As a message spells a shape: [8, 4].
std::string ShapeText(const std::vector<int64_t>& dims);

/// Bytes of a tensor: elements of less than a byte are packed, rank 0 is one element. Nothing for a
/// data type without a size, a negative dimension, or more bytes than a size_t can count.
std::optional<size_t> ByteSize(const std::vector<int64_t>& dims, ge::DataType dataType);

}  // namespace advstep::graph
