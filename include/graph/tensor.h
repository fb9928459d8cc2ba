// SPDX-License-Identifier: Apache-2.0
/// Shapes, descriptions of tensors, and tensors in host memory.
#ifndef ADVSTEP_GRAPH_TENSOR_H_
#define ADVSTEP_GRAPH_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "ascend_string.h"
#include "error_codes.h"
#include "types.h"

namespace advstep {
namespace graph {
struct TensorDescState;
struct TensorState;
class TensorAccess;
}  // namespace graph
}  // namespace advstep

namespace ge {

/// The dimensions of a tensor. A copy is independent of its original. Objects of the three classes
/// of this header have CANN's layout.
class ADVSTEP_GRAPH_API Shape {
 public:
    Shape();
    explicit Shape(const std::vector<int64_t>& dims);

    /// Returns the rank; 0 if the rank is unknown: the shape is {-2}.
    size_t GetDimNum() const;
    /// Returns 0 if index >= GetDimNum().
    int64_t GetDim(size_t index) const;
    /// Returns GRAPH_FAILED if index >= GetDimNum().
    graphStatus SetDim(size_t index, int64_t value);
    std::vector<int64_t> GetDims() const;
    /// Returns the product of the dimensions; -1 if one of them is -1 or -2; 0 for rank 0 and on
    /// overflow.
    int64_t GetShapeSize() const;

 private:
    friend class advstep::graph::TensorAccess;

    /* The copies of a shape share these numbers, which never change; null: no dimensions. */
    std::shared_ptr<const std::vector<int64_t>> dims_;
};

/// The description of a tensor. A copy is independent of its original.
class ADVSTEP_GRAPH_API TensorDesc {
 public:
    TensorDesc();
    explicit TensorDesc(Shape shape, Format format = FORMAT_ND, DataType dataType = DT_FLOAT);
    TensorDesc(const TensorDesc& other);
    /// These leave other as TensorDesc() makes it.
    TensorDesc(TensorDesc&& other) noexcept;
    TensorDesc& operator=(TensorDesc&& other) noexcept;
    TensorDesc& operator=(const TensorDesc& other);

    void Update(const Shape& shape, Format format = FORMAT_ND, DataType dataType = DT_FLOAT);

    Shape GetShape() const;
    void SetShape(const Shape& shape);
    Shape GetOriginShape() const;
    void SetOriginShape(const Shape& shape);
    Format GetFormat() const;
    void SetFormat(Format format);
    Format GetOriginFormat() const;
    void SetOriginFormat(Format format);
    DataType GetDataType() const;
    void SetDataType(DataType dataType);
    int64_t GetRealDimCnt() const;
    void SetRealDimCnt(int64_t count);
    Placement GetPlacement() const;
    void SetPlacement(Placement placement);
    int64_t GetSize() const;
    void SetSize(int64_t size);
    AscendString GetName() const;
    graphStatus GetName(AscendString& name) const;
    void SetName(const AscendString& name);
    /// Sets the least and the greatest value of each dimension. They are kept and have no effect.
    graphStatus SetShapeRange(const std::vector<std::pair<int64_t, int64_t>>& range);
    graphStatus GetShapeRange(std::vector<std::pair<int64_t, int64_t>>& range) const;

 private:
    friend class advstep::graph::TensorAccess;

    std::shared_ptr<advstep::graph::TensorDescState> state_; /* its own; null: as TensorDesc() */
};

/// A description and bytes. Copies of a Tensor share both; a Clone shares neither.
/// Session::RunGraph checks that the bytes fit the description; this class does not.
class ADVSTEP_GRAPH_API Tensor {
 public:
    Tensor();
    explicit Tensor(const TensorDesc& desc);
    /// These constructors copy the bytes to memory aligned to 64 bytes.
    Tensor(const TensorDesc& desc, const std::vector<uint8_t>& data);
    Tensor(const TensorDesc& desc, const uint8_t* data, size_t size);
    Tensor(const Tensor& other) = default;
    Tensor& operator=(const Tensor& other) = default;

    Tensor Clone() const;

    /// Returns a copy.
    TensorDesc GetTensorDesc() const;
    graphStatus SetTensorDesc(const TensorDesc& desc);

    /// Returns null if there are no bytes.
    const uint8_t* GetData() const;
    uint8_t* GetData();
    size_t GetSize() const;

    /// Copies the bytes. Returns GRAPH_FAILED, without a change, if data is null with a size above
    /// 0 or if memory is short.
    graphStatus SetData(const uint8_t* data, size_t size);
    graphStatus SetData(const std::vector<uint8_t>& data);
    /// Takes ownership of the bytes. If there is a deleter, it frees them when the last Tensor that
    /// shares them is destroyed. If the call returns GRAPH_FAILED the caller keeps the ownership.
    graphStatus SetData(uint8_t* data, size_t size, const std::function<void(uint8_t*)>& deleter);

 private:
    friend class advstep::graph::TensorAccess;

    std::shared_ptr<advstep::graph::TensorState> state_;
};

}  // namespace ge

#endif  // ADVSTEP_GRAPH_TENSOR_H_
