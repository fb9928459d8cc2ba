// SPDX-License-Identifier: Apache-2.0
// empty, dropout and histc on "npu", and kernels that another key has.

#include "torch_kernels/dispatch/own_kernels.h"

#include <ATen/ATen.h>

#include <optional>

#include "torch_kernels/device/thread_state.h"

namespace advstep_torch {

void OtherKernel::operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet,
                             torch::jit::Stack* stack) {
    handle.callBoxedForDispatchKey(key_, *stack);
}

EmptyKernel::EmptyKernel(const c10::OperatorHandle& handle)
    : torchNpus_(handle.getComputedKernelForDispatchKey(c10::DispatchKey::PrivateUse1)) {}

void EmptyKernel::operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet keys,
                             torch::jit::Stack* stack) {
    const std::optional<at::MemoryFormat> format =
        torch::jit::peek(*stack, 5, 6).toOptional<at::MemoryFormat>();
    torch::jit::peek(*stack, 5, 6) = c10::IValue();
    torchNpus_.callBoxed(handle, keys, stack);
    if (format == at::MemoryFormat::ChannelsLast || format == at::MemoryFormat::ChannelsLast3d) {
        const at::Tensor made = stack->back().toTensor();
        made.unsafeGetTensorImpl()->empty_tensor_restride(*format);
    }
}

void DropoutKernel::operator()(const c10::OperatorHandle&, c10::DispatchKeySet,
                               torch::jit::Stack* stack) {
    const BelowAutograd below;
    const at::Tensor input = torch::jit::peek(*stack, 0, 3).toTensor();
    const double kept = 1.0 - torch::jit::peek(*stack, 1, 3).toDouble();
    const bool train = torch::jit::peek(*stack, 2, 3).toOptional<bool>().value_or(true);
    torch::jit::drop(*stack, 3);
    at::Tensor mask = at::empty_like(input, input.options().dtype(at::kBool));
    if (train) {
        mask.bernoulli_(kept);
        stack->emplace_back(input.mul(mask).mul_(kept == 0 ? 0 : 1 / kept));
    } else {
        stack->emplace_back(input.clone());
        mask.fill_(true);
    }
    stack->emplace_back(mask);
}

void HistcKernel::operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet keys,
                             torch::jit::Stack* stack) {
    const at::Tensor self = torch::jit::peek(*stack, 0, 4).toTensor();
    const bool integers = c10::isIntegralType(self.scalar_type(), /*includeBool=*/false);
    if (integers) {
        torch::jit::peek(*stack, 0, 4) = self.to(at::kDouble);
    }
    host_(handle, keys, stack);
    if (integers) {
        stack->back() = stack->back().toTensor().to(self.scalar_type());
    }
}

}  // namespace advstep_torch
