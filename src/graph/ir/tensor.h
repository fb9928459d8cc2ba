// SPDX-License-Identifier: Apache-2.0
// Tensors: the state of a ge::Tensor, shapes and data types as text, and their bytes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/tensor.h"
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

/// The shape and the data type of a value; its format is always ND.
struct ValueDesc {
    std::vector<int64_t> dims;
    ge::DataType dataType = ge::DT_FLOAT;
    size_t bytes = 0;
};

/// Bytes in host memory: memory of the program, or memory of the library, aligned to 64 bytes
/// at least.
using HostBytes = std::unique_ptr<uint8_t[], std::function<void(uint8_t*)>>;

constexpr std::align_val_t kHostAlignment{64};

/// Allocates bytes; null for size 0. Throws std::bad_alloc.
inline HostBytes MakeHostBytes(size_t size, std::align_val_t alignment = kHostAlignment) {
    auto* bytes = size == 0 ? nullptr : static_cast<uint8_t*>(operator new(size, alignment));
    return HostBytes(bytes, [alignment](uint8_t* from) { operator delete(from, alignment); });
}

/// The state of one ge::TensorDesc. It has no lock, like a std::vector.
struct TensorDescState {
    ge::Shape shape;
    ge::Shape originShape;
    ge::Format format = ge::FORMAT_ND;
    ge::Format originFormat = ge::FORMAT_ND;
    ge::DataType dataType = ge::DT_FLOAT;
    ge::Placement placement = ge::kPlacementHost;
    int64_t realDimCnt = 0;
    int64_t size = 0;
    ge::AscendString name;
    std::vector<std::pair<int64_t, int64_t>> shapeRange;
};

/// The state that the copies of one ge::Tensor share. It has no lock, like a std::vector.
struct TensorState {
    ge::TensorDesc desc;
    HostBytes bytes;
    size_t size = 0;
};

/// Looks at shapes and descriptions without a copy of them, and changes descriptions.
class TensorAccess {
 public:
    static const std::vector<int64_t>& DimsOf(const ge::Shape& shape);
    static const TensorDescState& StateOf(const ge::TensorDesc& desc);
    /// The state of this description alone, which is made if there is none. Throws std::bad_alloc.
    static TensorDescState& Change(ge::TensorDesc& desc);

    static bool HasShape(const ge::Tensor& tensor, const ValueDesc& desc) {
        const TensorDescState& own = StateOf(tensor.state_->desc);
        return own.dataType == desc.dataType && DimsOf(own.shape) == desc.dims;
    }
};

}  // namespace advstep::graph
