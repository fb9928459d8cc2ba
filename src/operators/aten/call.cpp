// SPDX-License-Identifier: Apache-2.0
// The arguments of a call as ATen's types, and what its outputs take.

#include "src/operators/aten/call.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace advstep_operators {
namespace {

// Returns the elements from the first to the last of a view.
int64_t SpanOf(const AdvStepTensorView& view) {
    int64_t span = 1;
    for (int64_t axis = 0; axis < view.rank; ++axis) {
        if (view.dims[axis] == 0) {
            return 0;
        }
        span += (view.dims[axis] - 1) * view.strides[axis];
    }
    return span;
}

const uint8_t* BeginOf(const AdvStepTensorView& view) {
    return view.data + view.offset * view.itemSize;
}

// Returns the strides of a view, where a dim of size 1 has that of a contiguous tensor: ATen
// chooses kernels by strides, and those of such dims mean nothing.
using Strides = c10::SmallVector<int64_t, 8>;
Strides StridesOf(const AdvStepTensorView& view) {
    Strides strides(view.strides, view.strides + view.rank);
    for (int64_t axis = view.rank - 1; axis >= 0; --axis) {
        const auto place = static_cast<size_t>(axis);
        if (view.dims[axis] == 1) {
            strides[place] = axis + 1 < view.rank
                                 ? std::max<int64_t>(view.dims[axis + 1], 1) * strides[place + 1]
                                 : 1;
        }
    }
    return strides;
}

bool Overlap(const AdvStepTensorView& one, const AdvStepTensorView& other) {
    const uint8_t* const first = BeginOf(one);
    const uint8_t* const second = BeginOf(other);
    return first < second + SpanOf(other) * other.itemSize &&
           second < first + SpanOf(one) * one.itemSize;
}

bool SameView(const AdvStepTensorView& one, const AdvStepTensorView& other) {
    const auto bytes = static_cast<size_t>(one.rank) * sizeof(int64_t);
    return BeginOf(one) == BeginOf(other) && one.dataType == other.dataType &&
           one.rank == other.rank && std::memcmp(one.dims, other.dims, bytes) == 0 &&
           std::memcmp(one.strides, other.strides, bytes) == 0;
}

// Returns a view's memory as a tensor. It is at::from_blob without its checks, which took as long
// as a small operator.
at::Tensor MemoryAs(const AdvStepTensorView& view, at::ScalarType type, at::IntArrayRef dims,
                    at::IntArrayRef strides) {
    c10::Storage storage(c10::Storage::use_byte_size_t(),
                         static_cast<size_t>(SpanOf(view)) * c10::elementSize(type),
                         c10::DataPtr(const_cast<uint8_t*>(BeginOf(view)), at::kCPU),
                         /*allocator=*/nullptr, /*resizable=*/false);
    at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
        std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU),
        caffe2::TypeMeta::fromScalarType(type));
    tensor.unsafeGetTensorImpl()->set_sizes_and_strides(dims, strides);
    return tensor;
}

bool IsFloating(aclDataType dataType) {
    const auto type = TypeOf(dataType);
    return !type.has_value() || (!at::isIntegralType(*type, true));
}

template <typename T>
T ValueIn(const AdvStepScalarValue& value) {
    T read;
    std::memcpy(&read, value.bytes, sizeof read);
    return read;
}

at::Scalar ScalarOf(const AdvStepScalarValue& value) {
    switch (value.dataType) {
        case ACL_FLOAT:
            return static_cast<double>(ValueIn<float>(value));
        case ACL_DOUBLE:
            return ValueIn<double>(value);
        case ACL_FLOAT16:
            return static_cast<double>(ValueIn<at::Half>(value));
        case ACL_BF16:
            return static_cast<double>(ValueIn<at::BFloat16>(value));
        case ACL_INT8:
            return static_cast<int64_t>(ValueIn<int8_t>(value));
        case ACL_INT16:
            return static_cast<int64_t>(ValueIn<int16_t>(value));
        case ACL_INT32:
            return static_cast<int64_t>(ValueIn<int32_t>(value));
        case ACL_INT64:
            return ValueIn<int64_t>(value);
        case ACL_UINT8:
            return static_cast<int64_t>(ValueIn<uint8_t>(value));
        case ACL_UINT16:
            return static_cast<int64_t>(ValueIn<uint16_t>(value));
        case ACL_UINT32:
            return static_cast<int64_t>(ValueIn<uint32_t>(value));
        case ACL_UINT64:
            return static_cast<int64_t>(ValueIn<uint64_t>(value));
        case ACL_BOOL:
            return value.bytes[0] != 0;
        case ACL_COMPLEX64:
            return ValueIn<c10::complex<float>>(value);
        case ACL_COMPLEX128:
            return ValueIn<c10::complex<double>>(value);
        default:
            TORCH_CHECK(false, "a scalar has ", advstepDataTypeName(value.dataType));
    }
}

}  // namespace

std::optional<at::ScalarType> TypeOf(aclDataType dataType) {
    switch (dataType) {
        case ACL_FLOAT:
            return at::kFloat;
        case ACL_FLOAT16:
            return at::kHalf;
        case ACL_BF16:
            return at::kBFloat16;
        case ACL_DOUBLE:
            return at::kDouble;
        case ACL_INT8:
            return at::kChar;
        case ACL_INT16:
            return at::kShort;
        case ACL_INT32:
            return at::kInt;
        case ACL_INT64:
            return at::kLong;
        case ACL_UINT8:
            return at::kByte;
        case ACL_UINT16:
            return at::kUInt16;
        case ACL_UINT32:
            return at::kUInt32;
        case ACL_UINT64:
            return at::kUInt64;
        case ACL_BOOL:
            return at::kBool;
        case ACL_COMPLEX64:
            return at::kComplexFloat;
        case ACL_COMPLEX128:
            return at::kComplexDouble;
        case ACL_FLOAT8_E5M2:
            return at::kFloat8_e5m2;
        case ACL_FLOAT8_E4M3FN:
            return at::kFloat8_e4m3fn;
        case ACL_FLOAT8_E8M0:
            return at::kFloat8_e8m0fnu;
        default:
            return std::nullopt;
    }
}

int Call::PlaceOf(std::string_view name) const {
    constexpr std::string_view kOptional = "Optional";
    for (uint32_t place = 0; place < call_.function->argumentCount; ++place) {
        const std::string_view own = NameOf(static_cast<int>(place));
        if (own == name ||
            (own.size() == name.size() + kOptional.size() && own.substr(0, name.size()) == name &&
             own.substr(name.size()) == kOptional)) {
            return static_cast<int>(place);
        }
    }
    return -1;
}

at::Tensor Call::Made(const char* name, const AdvStepTensorView& view) const {
    const std::optional<at::ScalarType> type = TypeOf(view.dataType);
    TORCH_CHECK_TYPE(type.has_value(), name, " has dtype ", advstepDataTypeName(view.dataType),
                     ", in which this operator does not compute here");
    const at::IntArrayRef dims(view.dims, static_cast<size_t>(view.rank));
    const Strides strides = StridesOf(view);
    at::Tensor tensor =
        mode_.meta ? at::empty_strided(dims, strides, at::TensorOptions(*type).device(at::kMeta))
                   : MemoryAs(view, *type, dims, strides);
    const bool isNarrow = *type == at::kHalf || *type == at::kBFloat16;
    return mode_.widened && isNarrow ? tensor.to(at::kFloat) : tensor;
}

at::Tensor Call::Member(int place, uint32_t member) const {
    const int32_t tensor = ValueAt(place).tensors[member];
    if (tensor >= 0 && !IsTensor(place) && tensors_[tensor].dataType == ACL_INT4) {
        return Halves(tensors_[tensor]);
    }
    return tensor >= 0 ? Made(NameOf(place), tensors_[tensor]) : at::Tensor();
}

at::Tensor Call::Tensor(int place) const {
    return ValueAt(place).isNull ? at::Tensor() : Member(place, 0);
}

// Two elements of INT4 are in a byte, the first one in its low half.
at::Tensor Call::Halves(const AdvStepTensorView& view) const {
    const at::IntArrayRef dims(view.dims, static_cast<size_t>(view.rank));
    if (mode_.meta) {
        return at::empty(dims, at::TensorOptions(at::kChar).device(at::kMeta));
    }
    const int64_t span = SpanOf(view);
    const at::Tensor all = at::empty({span}, at::TensorOptions(at::kChar));
    int8_t* const elements = all.data_ptr<int8_t>();
    for (int64_t element = 0; element < span; ++element) {
        const int64_t at = element + view.offset;
        const int half = view.data[at / 2] >> (at % 2 == 0 ? 0 : 4) & 15;
        elements[element] = static_cast<int8_t>(half < 8 ? half : half - 16);
    }
    return all.as_strided(dims, StridesOf(view));
}

at::Tensor Call::Unpacked(int place) const {
    const AdvStepTensorView* const view = View(place);
    return view != nullptr && view->dataType == ACL_INT4 ? Halves(*view) : Tensor(place);
}

std::vector<at::Tensor> Call::Tensors(int place) const {
    std::vector<at::Tensor> tensors;
    for (uint32_t member = 0; member < ValueAt(place).count; ++member) {
        tensors.push_back(Member(place, member));
    }
    return tensors;
}

template <typename Visit>
void Call::ForEachTensor(Visit&& visit) const {
    for (uint32_t place = 0; place < call_.function->argumentCount; ++place) {
        const ArgumentSpec& spec = call_.function->arguments[place];
        const bool holdsTensors = spec.kind == Kind::kTensor || spec.kind == Kind::kTensorList;
        for (uint32_t member = 0; holdsTensors && member < call_.values[place].count; ++member) {
            if (const int32_t tensor = call_.values[place].tensors[member]; tensor >= 0) {
                visit(spec, tensors_[tensor]);
            }
        }
    }
}

bool Call::ComputesIntegers() const {
    bool integers = true;
    ForEachTensor([&](const ArgumentSpec&, const AdvStepTensorView& view) {
        integers &= !IsFloating(view.dataType);
    });
    return integers;
}

// Clients pass alpha and its like as floats for every dtype, and ATen refuses a float with integer
// tensors.
at::Scalar Call::Narrowed(const AdvStepScalarValue& value) const {
    const at::Scalar scalar = ScalarOf(value);
    if (!scalar.isFloatingPoint() || !ComputesIntegers()) {
        return scalar;
    }
    const double number = scalar.toDouble();
    constexpr double kMost = 9007199254740992;  // 2^53
    return std::trunc(number) == number && std::fabs(number) <= kMost
               ? at::Scalar(static_cast<int64_t>(number))
               : scalar;
}

at::Scalar Call::Scalar(int place) const { return Narrowed(*ValueAt(place).scalars); }

std::optional<at::Scalar> Call::OptionalScalar(int place) const {
    return ValueAt(place).isNull ? std::nullopt : std::optional<at::Scalar>(Scalar(place));
}

std::vector<at::Scalar> Call::Scalars(int place) const {
    std::vector<at::Scalar> scalars;
    for (uint32_t member = 0; member < ValueAt(place).count; ++member) {
        scalars.push_back(Narrowed(ValueAt(place).scalars[member]));
    }
    return scalars;
}

at::IntArrayRef Call::Ints(int place) const {
    const Value& value = ValueAt(place);
    return value.isNull ? at::IntArrayRef() : at::IntArrayRef(value.integers, value.count);
}

at::OptionalIntArrayRef Call::OptionalInts(int place) const {
    return ValueAt(place).isNull ? at::OptionalIntArrayRef() : at::OptionalIntArrayRef(Ints(place));
}

std::vector<double> Call::Reals(int place) const {
    const Value& value = ValueAt(place);
    return value.isNull ? std::vector<double>()
                        : std::vector<double>(value.reals, value.reals + value.count);
}

std::vector<bool> Call::Flags(int place) const {
    const Value& value = ValueAt(place);
    return value.isNull ? std::vector<bool>()
                        : std::vector<bool>(value.flags, value.flags + value.count);
}

std::optional<at::ScalarType> Call::Type(int place) const {
    const auto dataType = static_cast<aclDataType>(ValueAt(place).integer);
    if (dataType == ACL_DT_UNDEFINED) {
        return std::nullopt;
    }
    const std::optional<at::ScalarType> type = TypeOf(dataType);
    const char* const name = advstepDataTypeName(dataType);
    TORCH_CHECK_TYPE(type.has_value(), NameOf(place), " is ",
                     name != nullptr ? name : "an unknown number",
                     ", in which this operator does not compute here");
    return type;
}

std::string_view Call::Text(int place) const {
    const Value& value = ValueAt(place);
    return value.isNull ? std::string_view() : std::string_view(value.text, value.count);
}

const AdvStepTensorView* Call::View(int place) const {
    return ValueAt(place).isNull ? nullptr : &tensors_[ValueAt(place).tensors[0]];
}

bool Call::MayWrite(int place, bool elementwise) const {
    if (mode_.meta || mode_.widened || place >= Checked::kPlaces || !checked_->direct[place]) {
        return false;
    }
    const AdvStepTensorView& output = *View(place);
    bool may = true;
    ForEachTensor([&](const ArgumentSpec& spec, const AdvStepTensorView& view) {
        if (&view == &output) {
            may &= elementwise || spec.access == ADVSTEP_WRITES;
        } else if (Overlap(output, view)) {
            may &= elementwise && SameView(output, view);
        }
    });
    return may;
}

void Call::Check(const char* name, const AdvStepTensorView& view, const at::Tensor& result) {
    const at::IntArrayRef dims(view.dims, static_cast<size_t>(view.rank));
    const bool halves = view.dataType == ACL_INT4 && result.scalar_type() == at::kChar;
    const std::optional<at::ScalarType> type = halves ? at::kChar : TypeOf(view.dataType);
    TORCH_CHECK_TYPE(type.has_value(), name, " has dtype ", advstepDataTypeName(view.dataType),
                     ", which no result of this operator can have here");
    TORCH_CHECK_TYPE(!at::isComplexType(result.scalar_type()) || at::isComplexType(*type), name,
                     " has dtype ", advstepDataTypeName(view.dataType),
                     "; expected a complex one for a complex result");
    TORCH_CHECK_VALUE(result.sizes() == dims || result.numel() == c10::multiply_integers(dims),
                      name, " has shape ", dims, "; expected ", result.sizes(),
                      ", the shape of the result");
    for (int64_t axis = 0; axis < view.rank && result.numel() > 0; ++axis) {
        TORCH_CHECK_VALUE(view.dims[axis] <= 1 || view.strides[axis] != 0, name,
                          " has stride 0 along dim ", axis, " of size ", view.dims[axis],
                          "; expected memory of its own for each element that is written");
    }
}

// Halves of other elements stay as they are.
void Call::PutHalves(const AdvStepTensorView& view, const at::Tensor& result) {
    const at::IntArrayRef dims(view.dims, static_cast<size_t>(view.rank));
    const at::Tensor places =
        at::arange(SpanOf(view), at::TensorOptions(at::kLong)).as_strided(dims, StridesOf(view));
    const at::Tensor elements = places.contiguous();
    const at::Tensor numbers = result.contiguous();
    const int64_t* const place = elements.const_data_ptr<int64_t>();
    const int8_t* const number = numbers.const_data_ptr<int8_t>();
    auto* const bytes = const_cast<uint8_t*>(view.data);
    for (int64_t element = 0; element < numbers.numel(); ++element) {
        const int64_t at = place[element] + view.offset;
        const int shift = at % 2 == 0 ? 0 : 4;
        const int kept = bytes[at / 2] & (15 << (4 - shift));
        bytes[at / 2] = static_cast<uint8_t>(kept | (number[element] & 15) << shift);
    }
}

void Call::PutInto(const char* name, const AdvStepTensorView& view, const at::Tensor& result) {
    if (mode_.meta) {
        return;
    }
    if (view.dataType == ACL_INT4) {
        PutHalves(view, result);
        return;
    }
    at::Tensor output = Call(call_, tensors_, {}, checked_).Made(name, view);
    const at::Tensor shaped =
        output.sizes() == result.sizes() ? result : result.reshape(output.sizes());
    // A result may be a view of an argument that shares memory with the output.
    const auto* const begin = static_cast<const uint8_t*>(shaped.storage().data());
    const uint8_t* const own = BeginOf(view);
    const bool overlaps =
        begin < own + SpanOf(view) * view.itemSize && own < begin + shaped.storage().nbytes();
    output.copy_(overlaps ? shaped.clone() : shaped);
}

bool Call::Overlapping(int one, int other) const {
    const auto dense = [this](int place) {
        const AdvStepTensorView* const view =
            place >= 0 && !ValueAt(place).isNull ? View(place) : nullptr;
        const at::IntArrayRef dims(view == nullptr ? nullptr : view->dims,
                                   view == nullptr ? 0 : static_cast<size_t>(view->rank));
        const int64_t count = c10::multiply_integers(dims);
        return view != nullptr && count > 0 && SpanOf(*view) == count;
    };
    return !mode_.meta && dense(one) && dense(other) && Overlap(*View(one), *View(other));
}

void Call::CheckAt(int place, const at::Tensor& result) const {
    if (!ValueAt(place).isNull && result.defined() && checked_->results == nullptr) {
        Check(NameOf(place), *View(place), result);
    }
}

void Call::CheckAt(int place, const std::vector<at::Tensor>& results) const {
    const Value& value = ValueAt(place);
    TORCH_CHECK_VALUE(value.isNull || value.count == results.size(), NameOf(place), " has ",
                      value.count, " tensors; expected ", results.size());
    for (uint32_t member = 0; !value.isNull && member < value.count; ++member) {
        if (value.tensors[member] >= 0 && results[member].defined()) {
            Check(NameOf(place), tensors_[value.tensors[member]], results[member]);
        }
    }
}

// Returns the dtype that TypeOf turns into this one.
static aclDataType DataTypeOf(at::ScalarType type) {
    for (const aclDataType dataType :
         {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64,
          ACL_UINT8, ACL_BOOL, ACL_COMPLEX64, ACL_COMPLEX128}) {
        if (TypeOf(dataType) == type) {
            return dataType;
        }
    }
    TORCH_CHECK_TYPE(false, "a result has dtype ", type, ", which no tensor can have here");
}

void Call::SetShape(int place, const at::Tensor& result) {
    ResultShape& shape = checked_->results[place];
    TORCH_CHECK_VALUE(result.dim() <= ResultShape::kMostDims, "a result has ", result.dim(),
                      " dims; expected at most ", ResultShape::kMostDims);
    shape.dataType = DataTypeOf(result.scalar_type());
    shape.rank = result.dim();
    std::copy(result.sizes().begin(), result.sizes().end(), shape.dims);
}

void Call::Put(int place, const at::Tensor& result) {
    if (ValueAt(place).isNull || !result.defined()) {
        return;
    }
    if (checked_->results != nullptr) {
        SetShape(place, result);
        return;
    }
    const AdvStepTensorView& view = *View(place);
    Check(NameOf(place), view, result);
    if (mode_.meta && place < Checked::kPlaces) {
        checked_->direct[place] =
            result.sizes() == at::IntArrayRef(view.dims, static_cast<size_t>(view.rank)) &&
            result.scalar_type() == TypeOf(view.dataType);
    }
    PutInto(NameOf(place), view, result);
}

void Call::Put(int place, const std::vector<at::Tensor>& results) {
    CheckAt(place, results);
    const Value& value = ValueAt(place);
    for (uint32_t member = 0; !value.isNull && member < value.count; ++member) {
        if (value.tensors[member] >= 0 && results[member].defined()) {
            PutInto(NameOf(place), tensors_[value.tensors[member]], results[member]);
        }
    }
}

}  // namespace advstep_operators
