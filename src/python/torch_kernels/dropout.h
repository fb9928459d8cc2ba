// SPDX-License-Identifier: Apache-2.0
// native_dropout, whose kernel for "cpu" draws from the generator of "cpu".

#pragma once

#include <ATen/ATen.h>

#include <optional>

#include "queued.h"

namespace advstep_torch {

/// native_dropout(input, p, train) -> output, mask, in operators on "npu", so that its numbers are
/// those of the device's generator: output = input * mask / (1 - p). The mask has the strides of
/// "cpu", because numbers are drawn in the order of memory.
class DropoutKernel : public c10::OperatorKernel {
 public:
    void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) {
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
};

}  // namespace advstep_torch
