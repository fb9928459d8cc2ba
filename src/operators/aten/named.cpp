// SPDX-License-Identifier: Apache-2.0
// Arguments by name, and the checks that kernels have in common.

#include "src/operators/aten/named.h"

namespace advstep_operators {
namespace {

int64_t SizeOf(const AdvStepTensorView& view) {
    int64_t size = 1;
    for (int32_t dim = 0; dim < static_cast<int32_t>(view.rank); ++dim) {
        size *= view.dims[dim];
    }
    return size;
}

}  // namespace

at::Tensor Named::Tensor(std::string_view name) const {
    const int place = call_.PlaceOf(name);
    return place >= 0 && call_.IsTensor(place) ? call_.Unpacked(place) : at::Tensor();
}

at::Tensor Named::Given(std::string_view name) const {
    const at::Tensor tensor = Tensor(name);
    return tensor.defined() && tensor.numel() > 0 ? tensor : at::Tensor();
}

std::vector<at::Tensor> Named::Tensors(std::string_view name) const {
    const int place = call_.PlaceOf(name);
    return place >= 0 ? call_.Tensors(place) : std::vector<at::Tensor>();
}

int64_t Named::Int(std::string_view name, int64_t missing) const {
    const int place = call_.PlaceOf(name);
    return place >= 0 ? call_.Int(place) : missing;
}

double Named::Real(std::string_view name, double missing) const {
    const int place = call_.PlaceOf(name);
    return place >= 0 ? call_.Real(place) : missing;
}

bool Named::Flag(std::string_view name, bool missing) const {
    const int place = call_.PlaceOf(name);
    return place >= 0 ? call_.Flag(place) : missing;
}

std::string Named::Text(std::string_view name, std::string_view missing) const {
    const int place = call_.PlaceOf(name);
    const std::string_view text = place >= 0 ? call_.Text(place) : std::string_view();
    return std::string(text.empty() ? missing : text);
}

at::IntArrayRef Named::Ints(std::string_view name) const {
    const int place = call_.PlaceOf(name);
    return place >= 0 ? call_.Ints(place) : at::IntArrayRef();
}

std::vector<bool> Named::Flags(std::string_view name) const {
    const int place = call_.PlaceOf(name);
    return place >= 0 ? call_.Flags(place) : std::vector<bool>();
}

const AdvStepTensorView* Named::View(std::string_view name) const {
    const int place = call_.PlaceOf(name);
    return place >= 0 ? call_.View(place) : nullptr;
}

void Named::Refuse(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
        const int place = call_.PlaceOf(name);
        const bool isEmpty = place >= 0 && call_.IsTensor(place) && call_.View(place) != nullptr &&
                             SizeOf(*call_.View(place)) == 0;
        TORCH_CHECK_VALUE(!Has(name) || isEmpty, name,
                          " is not null; expected null: what it asks for is not "
                          "computed on this device");
    }
}

void Named::CheckApart(const char* output, const char* other) const {
    TORCH_CHECK_VALUE(!call_.Overlapping(call_.PlaceOf(output), call_.PlaceOf(other)), other,
                      " overlaps ", output, "; expected memory of its own");
}

void Named::Put(const Results& results) {
    for (const auto& [name, result] : results) {
        if (const int place = call_.PlaceOf(name); place >= 0) {
            call_.CheckResult(place, result);
        }
    }
    for (const auto& [name, result] : results) {
        if (const int place = call_.PlaceOf(name); place >= 0) {
            call_.Put(place, result);
        }
    }
}

void CheckNumber(const char* name, int64_t number, int64_t least, int64_t most) {
    TORCH_CHECK_VALUE(number >= least && number <= most, name, " is ", number, "; expected ", least,
                      " to ", most);
}

void CheckShape(const char* name, const at::Tensor& tensor, at::IntArrayRef shape) {
    bool fits = tensor.dim() == static_cast<int64_t>(shape.size());
    for (size_t axis = 0; fits && axis < shape.size(); ++axis) {
        fits = shape[axis] == -1 || shape[axis] == tensor.sizes()[axis];
    }
    TORCH_CHECK_VALUE(fits, name, " has shape ", tensor.sizes(), "; expected ", shape);
}

void CheckLastDims(const char* name, const at::Tensor& tensor, const at::Tensor& x) {
    const auto dims = static_cast<size_t>(tensor.dim());
    const bool fits = dims > 0 && tensor.dim() <= x.dim() &&
                      x.sizes().slice(x.sizes().size() - dims) == tensor.sizes();
    TORCH_CHECK_VALUE(fits, name, " has shape ", tensor.sizes(),
                      "; expected that of the last dims of x, ", x.sizes());
}

int64_t DimOf(const char* name, int64_t dim, const at::Tensor& tensor) {
    TORCH_CHECK_VALUE(dim >= -tensor.dim() && dim < tensor.dim(), name, " is ", dim,
                      "; expected a dim of ", tensor.sizes());
    return dim < 0 ? dim + tensor.dim() : dim;
}

}  // namespace advstep_operators
