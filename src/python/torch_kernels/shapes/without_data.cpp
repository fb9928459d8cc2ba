// SPDX-License-Identifier: Apache-2.0
// Calls kernels for "meta" and trials on "cpu".

#include "torch_kernels/shapes/without_data.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/record_function.h>
#include <c10/util/strides.h>

#include <algorithm>
#include <utility>

#include "torch_kernels/device/thread_state.h"
#include "torch_kernels/operators/call_arguments.h"

namespace advstep_torch {

bool NeedsTrial(const Operator& op, c10::ArrayRef<c10::IValue> arguments) {
    if (op.Has(Flag::kTrial)) {
        return true;
    }
    if (!op.pointwise && !op.Has(Flag::kTrialIfStrided) && !op.Has(Flag::kTrialIfBool)) {
        return false;
    }
    int strided = 0;
    bool ofBool = false;
    bool expanded = false;
    const auto look = [&](const c10::IValue& value) {
        if (!value.isTensor() || !IsNpu(value.toTensor())) {
            return;
        }
        const at::Tensor& tensor = value.toTensor();
        ofBool = ofBool || tensor.scalar_type() == at::kBool;
        // Not is_contiguous: the strides of dimensions of size 1 decide on the memory format.
        if (tensor.strides() != c10::IntArrayRef(c10::contiguous_strides(tensor.sizes()))) {
            ++strided;
            expanded = expanded || (c10::isReducedFloatingType(tensor.scalar_type()) &&
                                    !tensor.is_non_overlapping_and_dense());
        }
    };
    for (const c10::IValue& value : arguments) {
        if (value.isList()) {
            std::for_each(value.toListRef().begin(), value.toListRef().end(), look);
        } else {
            look(value);
        }
    }
    return (op.Has(Flag::kTrialIfStrided) && strided != 0) ||
           (op.Has(Flag::kTrialIfBool) && ofBool) || (op.pointwise && expanded && strided > 1);
}

bool WithoutData::Call(c10::ArrayRef<c10::IValue> arguments, std::vector<c10::IValue>* given,
                       std::vector<c10::IValue>* results, std::exception_ptr* refused) const {
    const bool trial = NeedsTrial(op_, arguments);
    return CallOn(trial ? c10::kCPU : c10::kMeta, arguments, given, results, refused);
}

bool WithoutData::CallOn(c10::Device device, c10::ArrayRef<c10::IValue> arguments,
                         std::vector<c10::IValue>* given, std::vector<c10::IValue>* results,
                         std::exception_ptr* refused) const {
    const at::DisableRecordFunctionGuard unseen;  // by profilers
    try {
        *results = Without(arguments, device);
        *given = *results;
        op_.handle.callBoxed(*results);
        return true;
    } catch (const c10::NotImplementedError&) {
        if (device.type() == c10::kCPU) {  // for this dtype
            *refused = std::current_exception();
        }
        return false;
    } catch (const std::exception&) {
        *refused = std::current_exception();
        return false;
    }
}

void WithoutData::ThrowIfNotItsOwn(c10::ArrayRef<c10::IValue> arguments,
                                   const std::exception_ptr& first) const {
    if (MessageOf(first, /*ofC=*/true)) {
        return;
    }
    std::vector<c10::IValue> given;
    std::vector<c10::IValue> results;
    std::exception_ptr second;
    (void)Call(arguments, &given, &results, &second);
    if (second == nullptr || MessageOf(first, /*ofC=*/false) != MessageOf(second, /*ofC=*/false)) {
        std::rethrow_exception(first);
    }
}

std::optional<std::string> WithoutData::MessageOf(const std::exception_ptr& thrown, bool ofC) {
    try {
        std::rethrow_exception(thrown);
    } catch (const c10::Error& error) {
        return error.what_without_backtrace();
    } catch (const std::exception& error) {
        return ofC ? std::nullopt : std::optional<std::string>(error.what());
    }
}

void WithoutData::ThrowIfNotDeterministic(c10::ArrayRef<c10::IValue> arguments) const {
    const BelowAutograd below;
    std::vector<c10::IValue> given;
    std::vector<c10::IValue> results;
    std::exception_ptr refused;
    (void)CallOn(c10::kCPU, arguments, &given, &results, &refused);
    if (refused != nullptr) {
        std::rethrow_exception(refused);
    }
}

std::vector<c10::IValue> WithoutData::Without(c10::ArrayRef<c10::IValue> arguments,
                                              c10::Device device) const {
    std::vector<c10::IValue> meta;
    std::vector<std::pair<const void*, at::Tensor>> known;
    MapTensors(arguments, &meta, [&](const at::Tensor& tensor) {
        if (!IsNpu(tensor)) {
            return tensor;
        }
        for (const auto& [impl, made] : known) {
            if (impl == tensor.unsafeGetTensorImpl()) {
                return made;
            }
        }
        at::Tensor made = NewLike(tensor, device);
        if (device.type() == c10::kCPU) {
            made.fill_(op_.pointwise ? 1 : 0);
        }
        known.emplace_back(tensor.unsafeGetTensorImpl(), made);
        return made;
    });
    if (op_.device >= 0) {
        meta[static_cast<size_t>(op_.device)] = device;
    }
    if (op_.generator >= 0) {
        meta[static_cast<size_t>(op_.generator)] =
            device.type() == c10::kCPU ? c10::IValue(at::detail::createCPUGenerator())
                                       : c10::IValue();
    }
    if (op_.pinMemory >= 0) {
        meta[static_cast<size_t>(op_.pinMemory)] = c10::IValue();
    }
    return meta;
}

}  // namespace advstep_torch
