// SPDX-License-Identifier: Apache-2.0
// The values of one call of an operator: its arguments on "cpu", and its results on "npu".

#pragma once

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <utility>
#include <vector>

#include "torch_kernels/device/views.h"
#include "torch_kernels/operators/operator_description.h"

namespace advstep_torch {

/// Calls `use` on every tensor among the values, and puts its result in the tensor's place.
template <typename Use>
void MapTensors(c10::ArrayRef<c10::IValue> from, std::vector<c10::IValue>* to, Use&& use) {
    to->reserve(from.size());
    for (const c10::IValue& value : from) {
        if (value.isTensor()) {
            to->emplace_back(use(value.toTensor()));
        } else if (value.isTensorList()) {
            c10::List<at::Tensor> list;
            for (const at::Tensor& tensor : value.toTensorVector()) {
                list.push_back(use(tensor));
            }
            to->emplace_back(std::move(list));
        } else if (value.isList() && value.toListRef().size() != 0 &&
                   value.type()->castRaw<c10::ListType>()->getElementType()->kind() ==
                       c10::TypeKind::OptionalType) {
            c10::List<std::optional<at::Tensor>> list;
            for (const c10::IValue& element : value.toListRef()) {
                list.push_back(element.isTensor()
                                   ? std::optional<at::Tensor>(use(element.toTensor()))
                                   : std::nullopt);
            }
            to->emplace_back(std::move(list));
        } else {
            to->push_back(value);
        }
    }
}

/// Returns the device of the call: that of its "npu" tensors, its device argument, or that of its
/// generator.
std::optional<c10::Device> DeviceOf(const Operator& op, c10::ArrayRef<c10::IValue> arguments);

/// Refuses tensors of "cpu" among those of "npu", unless they are scalars that are read, or
/// indices. The operator would write into a copy. Refuses a list of scalars that is not on "cpu".
/// The kernel for "meta" would refuse them in other words.
void CheckScalars(const Operator& op, c10::ArrayRef<c10::IValue> arguments, c10::Device device);

/// Returns the arguments on "cpu". `copyScalars`: tensors of "cpu" are copied, because the operator
/// runs after the caller's call has returned.
std::vector<c10::IValue> OnHost(const Operator& op, c10::ArrayRef<c10::IValue> arguments,
                                Views* views, bool copyScalars);

/// Returns the generator of an operator that draws: the argument, or that of the device.
at::Generator GeneratorOf(const Operator& op, c10::ArrayRef<c10::IValue> arguments,
                          c10::Device device);

/// Returns the "npu" tensor for a result on "cpu".
at::Tensor ResultOf(const at::Tensor& result, c10::Device device, const CurrentStream& stream,
                    const Views& views);

}  // namespace advstep_torch
