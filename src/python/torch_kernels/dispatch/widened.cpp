// SPDX-License-Identifier: Apache-2.0
// Widens arguments, calls operators with them, and narrows their results.

#include "torch_kernels/dispatch/widened.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "torch_kernels/device/thread_state.h"
#include "torch_kernels/device/views.h"
#include "torch_kernels/operators/call_arguments.h"
#include "torch_kernels/shapes/refusals.h"

namespace advstep_torch {
namespace {

bool IsTypeOfData(const c10::Argument& argument) {
    return argument.real_type()->kind() == c10::TypeKind::ScalarTypeType ||
           (argument.real_type()->kind() == c10::TypeKind::OptionalType &&
            argument.real_type()->castRaw<c10::OptionalType>()->getElementType()->kind() ==
                c10::TypeKind::ScalarTypeType);
}

// Returns whether an argument has indices, and never values: an NPU takes int32 for them.
bool IsIndex(const c10::Argument& argument) {
    static constexpr std::array<std::string_view, 8> kNames{
        "index", "indices", "target", "targets", "offsets", "repeats", "batch_sizes", "labels"};
    return !IsWritten(argument) &&
           std::find(kNames.begin(), kNames.end(), argument.name()) != kNames.end();
}

bool RefusesTypes(const std::exception_ptr& refusal) {
    const std::string text = WithoutData::MessageOf(refusal, /*ofC=*/false).value_or("");
    return Dtypes::AreMeantBy(text) || text.find("long tensor") != std::string::npos;
}

template <typename Use>
void ForTensors(const c10::IValue& value, Use&& use) {
    if (value.isTensor() && value.toTensor().defined()) {
        use(value.toTensor());
    } else if (value.isList()) {
        for (const c10::IValue& element : value.toListRef()) {
            if (element.isTensor() && element.toTensor().defined()) {
                use(element.toTensor());
            }
        }
    }
}

c10::IValue Narrowed(const c10::IValue& value, at::ScalarType narrow) {
    const auto cast = [narrow](const at::Tensor& tensor) {
        return tensor.defined() && tensor.scalar_type() == at::kFloat ? tensor.to(narrow) : tensor;
    };
    std::vector<c10::IValue> made;
    MapTensors(c10::ArrayRef<c10::IValue>(value), &made, cast);
    return made.front();
}

}  // namespace

std::optional<WideCall> WideCall::Of(const Operator& op, c10::ArrayRef<c10::IValue> arguments) {
    WideCall call(op, arguments);
    bool mixed = false;
    const auto note = [&](at::ScalarType dtype) {
        mixed = mixed || (call.narrow_ != at::ScalarType::Undefined && call.narrow_ != dtype);
        call.narrow_ = dtype;
    };
    for (size_t index = 0; index < arguments.size(); ++index) {
        const c10::IValue& value = arguments[index];
        if (value.isInt() && IsTypeOfData(op.handle.schema().arguments()[index]) &&
            c10::isFloatingType(value.toScalarType())) {
            note(value.toScalarType());
        }
        ForTensors(value, [&](const at::Tensor& tensor) {
            if (!c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true) &&
                !tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
                note(tensor.scalar_type());
            }
        });
    }
    if (mixed || !c10::isReducedFloatingType(call.narrow_)) {
        call.narrow_ = at::ScalarType::Undefined;
    }
    return call.WidensAny() ? std::optional<WideCall>(std::move(call)) : std::nullopt;
}

bool WideCall::WidensAny() const {
    bool any = narrow_ != at::ScalarType::Undefined;
    for (size_t index = 0; index < given_.size(); ++index) {
        ForTensors(given_[index],
                   [&](const at::Tensor& tensor) { any = any || IsWidened(tensor, index); });
    }
    return any;
}

bool WideCall::IsWidened(const at::Tensor& tensor, size_t index) const {
    return (narrow_ != at::ScalarType::Undefined && tensor.scalar_type() == narrow_) ||
           (tensor.scalar_type() == at::kInt && IsIndex(op_.handle.schema().arguments()[index]));
}

at::Tensor WideCall::Wide(const at::Tensor& tensor, size_t index) const {
    if (!tensor.defined() || !IsWidened(tensor, index)) {
        return tensor;
    }
    return tensor.to(tensor.scalar_type() == at::kInt ? at::kLong : at::kFloat);
}

void WideCall::Store(const c10::IValue& to, const c10::IValue& wide) {
    const auto store = [](const at::Tensor& narrow, const at::Tensor& made) {
        if (narrow.is_same(made) || !narrow.defined()) {
            return;
        }
        if (narrow.sizes() != made.sizes()) {
            narrow.resize_(made.sizes());
        }
        narrow.copy_(made);
    };
    if (to.isTensor()) {
        store(to.toTensor(), wide.toTensor());
    } else if (to.isTensorList()) {
        const std::vector<at::Tensor> narrow = to.toTensorVector();
        const std::vector<at::Tensor> made = wide.toTensorVector();
        for (size_t index = 0; index < narrow.size(); ++index) {
            store(narrow[index], made[index]);
        }
    }
}

std::vector<at::ScalarType> WideCall::ResultTypes() const {
    std::vector<c10::IValue> given;
    std::vector<c10::IValue> results;
    std::exception_ptr refused;
    std::vector<at::ScalarType> types;
    const WithoutData kernels(op_);
    if (kernels.CallOn(c10::kMeta, given_, &given, &results, &refused)) {
        for (const c10::IValue& result : results) {
            types.push_back(result.isTensor() && result.toTensor().defined()
                                ? result.toTensor().scalar_type()
                                : at::ScalarType::Undefined);
        }
    } else if (refused != nullptr) {
        kernels.ThrowIfNotItsOwn(given_, refused);
    }
    return types;
}

std::vector<c10::IValue> WideCall::Run(const std::vector<at::ScalarType>& types) const {
    const BelowAutograd below;
    const std::vector<c10::Argument>& described = op_.handle.schema().arguments();
    std::vector<c10::IValue> wide;
    for (size_t index = 0; index < given_.size(); ++index) {
        if (narrow_ != at::ScalarType::Undefined && given_[index].isInt() &&
            IsTypeOfData(described[index]) && given_[index].toScalarType() == narrow_) {
            wide.emplace_back(at::kFloat);
            continue;
        }
        MapTensors(given_.slice(index, 1), &wide,
                   [&](const at::Tensor& tensor) { return Wide(tensor, index); });
    }
    torch::jit::Stack stack = wide;
    op_.handle.callBoxed(stack);
    for (size_t index = 0; index < given_.size(); ++index) {
        if (IsWritten(described[index])) {
            Store(given_[index], wide[index]);
        }
    }
    if (narrow_ == at::ScalarType::Undefined) {
        return stack;
    }
    for (size_t index = 0; index < stack.size(); ++index) {
        const bool known = index < types.size() && types[index] != at::ScalarType::Undefined;
        if (op_.fresh[index] && (!known || types[index] == narrow_)) {
            stack[index] = Narrowed(stack[index], narrow_);
        }
    }
    return stack;
}

std::vector<c10::IValue> RunWide(const std::exception_ptr& refusal, const Operator& op,
                                 c10::ArrayRef<c10::IValue> arguments,
                                 const std::vector<at::ScalarType>* types) {
    const std::optional<WideCall> wide =
        RefusesTypes(refusal) ? WideCall::Of(op, arguments) : std::nullopt;
    if (!wide) {
        std::rethrow_exception(refusal);
    }
    try {
        return wide->Run(types == nullptr ? wide->ResultTypes() : *types);
    } catch (const std::exception&) {
        const std::exception_ptr second = std::current_exception();
        std::rethrow_exception(RefusesTypes(second) ? refusal : second);
    }
}

std::optional<WideCall> Widened::Known(const Operator& op,
                                       c10::ArrayRef<c10::IValue> arguments) const {
    if (!any_.load(std::memory_order_acquire)) {
        return std::nullopt;
    }
    const std::string key = Dtypes(op, arguments).Key();
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (known_.count(key) == 0) {
            return std::nullopt;
        }
    }
    return WideCall::Of(op, arguments);
}

std::vector<c10::IValue> Widened::RunAfter(const std::exception_ptr& refusal, const Operator& op,
                                           c10::ArrayRef<c10::IValue> arguments) {
    std::vector<c10::IValue> results = RunWide(refusal, op, arguments);
    const std::lock_guard<std::mutex> lock(mutex_);
    known_.insert(Dtypes(op, arguments).Key());
    any_.store(true, std::memory_order_release);
    return results;
}

}  // namespace advstep_torch
