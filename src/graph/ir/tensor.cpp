// SPDX-License-Identifier: Apache-2.0
// Implements the public classes Shape, TensorDesc and Tensor, and the sizes of tensors.

#include "src/graph/ir/tensor.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace advstep::graph {
namespace {

// Indexed by the value of the enumeration; 5 is not in use.
constexpr std::array<const char*, ge::DT_MAX> kTypeNames = {{
    "FLOAT",         "FLOAT16",     "INT8",          "INT32",          "UINT8",       "undefined",
    "INT16",         "UINT16",      "UINT32",        "INT64",          "UINT64",      "DOUBLE",
    "BOOL",          "STRING",      "DUAL_SUB_INT8", "DUAL_SUB_UINT8", "COMPLEX64",   "COMPLEX128",
    "QINT8",         "QINT16",      "QINT32",        "QUINT8",         "QUINT16",     "RESOURCE",
    "STRING_REF",    "DUAL",        "VARIANT",       "BF16",           "UNDEFINED",   "INT4",
    "UINT1",         "INT2",        "UINT2",         "COMPLEX32",      "HIFLOAT8",    "FLOAT8_E5M2",
    "FLOAT8_E4M3FN", "FLOAT8_E8M0", "FLOAT6_E3M2",   "FLOAT6_E2M3",    "FLOAT4_E2M1", "FLOAT4_E1M2",
    "HIFLOAT4",
}};

// What objects without a state have. Made while the library is loaded, because of forks, and never
// destroyed, because of threads that outlive main.
const std::vector<int64_t>& noDims = *new std::vector<int64_t>;
const TensorDescState& noDesc = *new TensorDescState;

// Returns 0 for a type without a size.
size_t BitsOf(ge::DataType dataType) {
    const int size = ge::GetSizeByDataType(dataType);
    if (size < 0) {
        return 0;
    }
    return size > ge::kDataTypeSizeBitOffset
               ? static_cast<size_t>(size - ge::kDataTypeSizeBitOffset)
               : static_cast<size_t>(size) * 8;
}

}  // namespace

const char* NameOf(ge::DataType dataType) {
    const auto index = static_cast<size_t>(dataType);
    return index < kTypeNames.size() ? kTypeNames[index] : "undefined";
}

std::optional<size_t> ByteSize(const std::vector<int64_t>& dims, ge::DataType dataType) {
    size_t bits = BitsOf(dataType);
    if (bits == 0) {
        return std::nullopt;
    }
    bool isEmpty = false;
    for (const int64_t dim : dims) {
        if (dim < 0) {
            return std::nullopt;
        }
        isEmpty = isEmpty || dim == 0;
    }
    if (isEmpty) {
        return 0;
    }
    size_t count = 1;
    for (const int64_t dim : dims) {
        if (__builtin_mul_overflow(count, static_cast<size_t>(dim), &count)) {
            return std::nullopt;
        }
    }
    // Whole groups of eight elements have as many bytes as an element has bits.
    size_t bytes = 0;
    const size_t rest = count % 8 * bits;
    if (__builtin_mul_overflow(count / 8, bits, &bytes) ||
        __builtin_add_overflow(bytes, rest / 8 + (rest % 8 == 0 ? 0 : 1), &bytes) ||
        bytes > static_cast<size_t>(std::numeric_limits<int64_t>::max())) {
        return std::nullopt;
    }
    return bytes;
}

std::string ShapeText(const std::vector<int64_t>& dims) {
    std::string text = "[";
    for (const int64_t dim : dims) {
        text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
    }
    return text + "]";
}

const std::vector<int64_t>& TensorAccess::DimsOf(const ge::Shape& shape) {
    return shape.dims_ == nullptr ? noDims : *shape.dims_;
}

const TensorDescState& TensorAccess::StateOf(const ge::TensorDesc& desc) {
    return desc.state_ == nullptr ? noDesc : *desc.state_;
}

TensorDescState& TensorAccess::Change(ge::TensorDesc& desc) {
    if (desc.state_ == nullptr) {
        desc.state_ = std::make_shared<TensorDescState>();
    }
    return *desc.state_;
}

}  // namespace advstep::graph

namespace ge {

using advstep::graph::HostBytes;
using advstep::graph::MakeHostBytes;
using advstep::graph::TensorAccess;
using advstep::graph::TensorDescState;
using advstep::graph::TensorState;

// CANN's sizes, which a program compiled against its headers reserves.
static_assert(sizeof(Shape) == 16, "CANN's ge::Shape has one shared_ptr");
static_assert(sizeof(TensorDesc) == 16, "CANN's ge::TensorDesc has one shared_ptr");
static_assert(sizeof(Tensor) == 16, "CANN's ge::Tensor has one shared_ptr");

int64_t GetSizeInBytes(int64_t element_count, DataType dataType) {
    const std::optional<size_t> bytes = advstep::graph::ByteSize({element_count}, dataType);
    return bytes ? static_cast<int64_t>(*bytes) : -1;
}

Shape::Shape() = default;

Shape::Shape(const std::vector<int64_t>& dims)
    : dims_(std::make_shared<const std::vector<int64_t>>(dims)) {}

size_t Shape::GetDimNum() const {
    const std::vector<int64_t>& dims = TensorAccess::DimsOf(*this);
    return dims == UNKNOWN_RANK ? 0 : dims.size();
}

int64_t Shape::GetDim(size_t index) const { return index < GetDimNum() ? (*dims_)[index] : 0; }

// A program compiled against CANN's header copies a shape without a call, so that the copy shares
// its numbers: the changed ones are new.
graphStatus Shape::SetDim(size_t index, int64_t value) try {
    if (index >= GetDimNum()) {
        return GRAPH_FAILED;
    }
    std::vector<int64_t> dims = *dims_;
    dims[index] = value;
    dims_ = std::make_shared<const std::vector<int64_t>>(std::move(dims));
    return GRAPH_SUCCESS;
} catch (...) {
    return GRAPH_FAILED;
}

std::vector<int64_t> Shape::GetDims() const { return TensorAccess::DimsOf(*this); }

int64_t Shape::GetShapeSize() const {
    const std::vector<int64_t>& dims = TensorAccess::DimsOf(*this);
    if (std::any_of(dims.begin(), dims.end(),
                    [](int64_t dim) { return dim == UNKNOWN_DIM || dim == UNKNOWN_DIM_NUM; })) {
        return -1;
    }
    int64_t size = dims.empty() ? 0 : 1;
    for (const int64_t dim : dims) {
        if (__builtin_mul_overflow(size, dim, &size)) {
            return 0;
        }
    }
    return size;
}

TensorDesc::TensorDesc() = default;

TensorDesc::TensorDesc(Shape shape, Format format, DataType dataType) {
    TensorDescState& state = TensorAccess::Change(*this);
    state.shape = std::move(shape);
    state.format = format;
    state.dataType = dataType;
}

TensorDesc::TensorDesc(const TensorDesc& other)
    : state_(other.state_ == nullptr ? nullptr : std::make_shared<TensorDescState>(*other.state_)) {
}

TensorDesc::TensorDesc(TensorDesc&& other) noexcept = default;

TensorDesc& TensorDesc::operator=(TensorDesc&& other) noexcept = default;

TensorDesc& TensorDesc::operator=(const TensorDesc& other) { return *this = TensorDesc(other); }

void TensorDesc::Update(const Shape& shape, Format format, DataType dataType) {
    TensorDescState& state = TensorAccess::Change(*this);
    state.shape = shape;
    state.format = format;
    state.dataType = dataType;
}

Shape TensorDesc::GetShape() const { return TensorAccess::StateOf(*this).shape; }
void TensorDesc::SetShape(const Shape& shape) { TensorAccess::Change(*this).shape = shape; }
Shape TensorDesc::GetOriginShape() const { return TensorAccess::StateOf(*this).originShape; }
void TensorDesc::SetOriginShape(const Shape& shape) {
    TensorAccess::Change(*this).originShape = shape;
}
Format TensorDesc::GetFormat() const { return TensorAccess::StateOf(*this).format; }
void TensorDesc::SetFormat(Format format) { TensorAccess::Change(*this).format = format; }
Format TensorDesc::GetOriginFormat() const { return TensorAccess::StateOf(*this).originFormat; }
void TensorDesc::SetOriginFormat(Format format) {
    TensorAccess::Change(*this).originFormat = format;
}
DataType TensorDesc::GetDataType() const { return TensorAccess::StateOf(*this).dataType; }
void TensorDesc::SetDataType(DataType dataType) { TensorAccess::Change(*this).dataType = dataType; }
int64_t TensorDesc::GetRealDimCnt() const { return TensorAccess::StateOf(*this).realDimCnt; }
void TensorDesc::SetRealDimCnt(int64_t count) { TensorAccess::Change(*this).realDimCnt = count; }
Placement TensorDesc::GetPlacement() const { return TensorAccess::StateOf(*this).placement; }
void TensorDesc::SetPlacement(Placement placement) {
    TensorAccess::Change(*this).placement = placement;
}
int64_t TensorDesc::GetSize() const { return TensorAccess::StateOf(*this).size; }
void TensorDesc::SetSize(int64_t size) { TensorAccess::Change(*this).size = size; }
AscendString TensorDesc::GetName() const { return TensorAccess::StateOf(*this).name; }
graphStatus TensorDesc::GetName(AscendString& name) const {
    name = TensorAccess::StateOf(*this).name;
    return GRAPH_SUCCESS;
}
void TensorDesc::SetName(const AscendString& name) { TensorAccess::Change(*this).name = name; }
graphStatus TensorDesc::SetShapeRange(const std::vector<std::pair<int64_t, int64_t>>& range) {
    TensorAccess::Change(*this).shapeRange = range;
    return GRAPH_SUCCESS;
}
graphStatus TensorDesc::GetShapeRange(std::vector<std::pair<int64_t, int64_t>>& range) const {
    range = TensorAccess::StateOf(*this).shapeRange;
    return GRAPH_SUCCESS;
}

Tensor::Tensor() : state_(std::make_shared<TensorState>()) {}

Tensor::Tensor(const TensorDesc& desc) : Tensor() { state_->desc = desc; }

Tensor::Tensor(const TensorDesc& desc, const std::vector<uint8_t>& data)
    : Tensor(desc, data.data(), data.size()) {}

Tensor::Tensor(const TensorDesc& desc, const uint8_t* data, size_t size) : Tensor(desc) {
    SetData(data, size);
}

Tensor Tensor::Clone() const { return Tensor(state_->desc, state_->bytes.get(), state_->size); }

TensorDesc Tensor::GetTensorDesc() const { return state_->desc; }

graphStatus Tensor::SetTensorDesc(const TensorDesc& desc) {
    state_->desc = desc;
    return GRAPH_SUCCESS;
}

const uint8_t* Tensor::GetData() const { return state_->bytes.get(); }

uint8_t* Tensor::GetData() { return state_->bytes.get(); }

size_t Tensor::GetSize() const { return state_->size; }

graphStatus Tensor::SetData(const uint8_t* data, size_t size) try {
    if (data == nullptr && size > 0) {
        return GRAPH_FAILED;
    }
    HostBytes bytes = MakeHostBytes(size);
    if (size > 0) {
        std::memcpy(bytes.get(), data, size);
    }
    state_->bytes = std::move(bytes);
    state_->size = size;
    return GRAPH_SUCCESS;
} catch (...) {
    return GRAPH_FAILED;
}

graphStatus Tensor::SetData(const std::vector<uint8_t>& data) {
    return SetData(data.data(), data.size());
}

graphStatus Tensor::SetData(uint8_t* data, size_t size,
                            const std::function<void(uint8_t*)>& deleter) try {
    if (data == nullptr && size > 0) {
        return GRAPH_FAILED;
    }
    // A unique_ptr calls its deleter even if that is an empty function, so there is always one.
    std::function<void(uint8_t*)> release = [](uint8_t*) {};
    if (deleter) {
        release = deleter;
    }
    state_->bytes = HostBytes(data, std::move(release));
    state_->size = size;
    return GRAPH_SUCCESS;
} catch (...) {
    return GRAPH_FAILED;
}

}  // namespace ge
