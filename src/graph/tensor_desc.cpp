// SPDX-License-Identifier: Apache-2.0
// The public classes Shape and TensorDesc.

#include <algorithm>
#include <utility>

#include "graph/tensor.h"

namespace ge {

Shape::Shape(const std::vector<int64_t>& dims) : dims_(dims) {}

size_t Shape::GetDimNum() const { return dims_ == UNKNOWN_RANK ? 0 : dims_.size(); }

int64_t Shape::GetDim(size_t index) const { return index < GetDimNum() ? dims_[index] : 0; }

graphStatus Shape::SetDim(size_t index, int64_t value) {
    if (index >= GetDimNum()) {
        return GRAPH_FAILED;
    }
    dims_[index] = value;
    return GRAPH_SUCCESS;
}

std::vector<int64_t> Shape::GetDims() const { return dims_; }

int64_t Shape::GetShapeSize() const {
    if (std::any_of(dims_.begin(), dims_.end(),
                    [](int64_t dim) { return dim == UNKNOWN_DIM || dim == UNKNOWN_DIM_NUM; })) {
        return -1;
    }
    int64_t size = dims_.empty() ? 0 : 1;
    for (const int64_t dim : dims_) {
        if (__builtin_mul_overflow(size, dim, &size)) {
            return 0;
        }
    }
    return size;
}

TensorDesc::TensorDesc(Shape shape, Format format, DataType dataType)
    : shape_(std::move(shape)), format_(format), dataType_(dataType) {}

void TensorDesc::Update(const Shape& shape, Format format, DataType dataType) {
    shape_ = shape;
    format_ = format;
    dataType_ = dataType;
}

Shape TensorDesc::GetShape() const { return shape_; }
void TensorDesc::SetShape(const Shape& shape) { shape_ = shape; }
Shape TensorDesc::GetOriginShape() const { return originShape_; }
void TensorDesc::SetOriginShape(const Shape& shape) { originShape_ = shape; }
Format TensorDesc::GetFormat() const { return format_; }
void TensorDesc::SetFormat(Format format) { format_ = format; }
Format TensorDesc::GetOriginFormat() const { return originFormat_; }
void TensorDesc::SetOriginFormat(Format format) { originFormat_ = format; }
DataType TensorDesc::GetDataType() const { return dataType_; }
void TensorDesc::SetDataType(DataType dataType) { dataType_ = dataType; }
int64_t TensorDesc::GetRealDimCnt() const { return realDimCnt_; }
void TensorDesc::SetRealDimCnt(int64_t count) { realDimCnt_ = count; }
Placement TensorDesc::GetPlacement() const { return placement_; }
void TensorDesc::SetPlacement(Placement placement) { placement_ = placement; }
int64_t TensorDesc::GetSize() const { return size_; }
void TensorDesc::SetSize(int64_t size) { size_ = size; }
AscendString TensorDesc::GetName() const { return name_; }
graphStatus TensorDesc::GetName(AscendString& name) const {
    name = name_;
    return GRAPH_SUCCESS;
}
void TensorDesc::SetName(const AscendString& name) { name_ = name; }
graphStatus TensorDesc::SetShapeRange(const std::vector<std::pair<int64_t, int64_t>>& range) {
    shapeRange_ = range;
    return GRAPH_SUCCESS;
}
graphStatus TensorDesc::GetShapeRange(std::vector<std::pair<int64_t, int64_t>>& range) const {
    range = shapeRange_;
    return GRAPH_SUCCESS;
}

}  // namespace ge
