// SPDX-License-Identifier: Apache-2.0
// Finds the integers that a call computes in the default dtype, and casts them.

#include "torch_kernels/dispatch/promotion.h"

#include <c10/core/DefaultDtype.h>

#include <algorithm>
#include <iterator>

namespace advstep_torch {
namespace {

// Returns whether the operator compares with a number that is no integer.
bool Compares(const Operator& op, c10::ArrayRef<c10::IValue> arguments) {
    return op.Has(Flag::kComparesNumber) && arguments.size() > 1 && arguments[1].isDouble();
}

// Returns whether a tensor that is read decides on the dtype: it has floating point or complex
// numbers, and is no number of Python's. `index`: of the tensor in a list.
bool HasReals(const Operator& op, c10::ArrayRef<c10::IValue> arguments, size_t index) {
    const auto isReal = [](const at::Tensor& tensor) {
        return tensor.defined() &&
               !c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true) &&
               !tensor.unsafeGetTensorImpl()->is_wrapped_number();
    };
    for (size_t at = 0; at < arguments.size(); ++at) {
        const c10::IValue& value = arguments[at];
        if (op.handle.schema().arguments()[at].is_out()) {
            continue;
        }
        if (value.isTensor() ? isReal(value.toTensor())
                             : value.isTensorList() && index < value.toListRef().size() &&
                                   isReal(value.toListRef()[index].toTensor())) {
            return true;
        }
    }
    return false;
}

}  // namespace

Promotion Promotion::Of(const Operator& op, c10::ArrayRef<c10::IValue> arguments,
                        const std::vector<ResultShapes>* shapes) {
    Promotion made;
    if (!op.computesInDefault || op.writes || shapes == nullptr || shapes->size() != 1) {
        return made;
    }
    const at::ScalarType dtype = c10::get_default_dtype_as_scalartype();
    const std::vector<TensorShape>& results = shapes->front().tensors;
    const auto isWanted = [&](const TensorShape& result) {
        const auto index = static_cast<size_t>(&result - results.data());
        return (c10::toRealValueType(result.dtype.toScalarType()) == dtype ||
                Compares(op, arguments)) &&
               !HasReals(op, arguments, index);
    };
    if (std::none_of(results.begin(), results.end(), isWanted)) {
        return made;
    }
    std::transform(results.begin(), results.end(), std::back_inserter(made.wanted_), isWanted);
    made.dtype_ = dtype;
    return made;
}

bool Promotion::MayWrite(const Operator& op, c10::ArrayRef<c10::IValue> arguments) {
    return op.computesInDefault && op.writes && !HasReals(op, arguments, 0);
}

void Promotion::Cast(const Operator& op, std::vector<c10::IValue>* arguments) const {
    if (wanted_.empty()) {
        return;
    }
    const size_t first = op.Has(Flag::kCondition) ? 1 : 0;
    for (size_t at = first; at < arguments->size(); ++at) {
        c10::IValue& value = (*arguments)[at];
        if (value.isTensor()) {
            value = wanted_.front() ? Real(value.toTensor()) : value.toTensor();
        } else if (value.isTensorList()) {
            c10::List<at::Tensor> list;
            for (const at::Tensor& tensor : value.toTensorVector()) {
                list.push_back(Wanted(list.size()) ? Real(tensor) : tensor);
            }
            value = list;
        }
    }
}

at::Tensor Promotion::Real(const at::Tensor& tensor) const {
    const bool integers = tensor.defined() &&
                          c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true) &&
                          !tensor.unsafeGetTensorImpl()->is_wrapped_number();
    return integers ? tensor.to(dtype_) : tensor;
}

}  // namespace advstep_torch
