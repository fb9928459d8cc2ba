// SPDX-License-Identifier: Apache-2.0
// Kernels of single operators, for which torch's kernel for "cpu" alone is not right.

#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "torch_kernels/dispatch/host_kernel.h"

namespace advstep_torch {

/// Runs another kernel of the same operator: its composition, or torch's own gradient.
class OtherKernel : public c10::OperatorKernel {
 public:
    explicit OtherKernel(c10::DispatchKey key) : key_(key) {}
    void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet,
                    torch::jit::Stack* stack);

 private:
    const c10::DispatchKey key_;
};

/// The kernel of empty.memory_format, because torch_npu makes contiguous tensors only.
class EmptyKernel : public c10::OperatorKernel {
 public:
    explicit EmptyKernel(const c10::OperatorHandle& handle);
    void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet keys,
                    torch::jit::Stack* stack);

 private:
    c10::SafeKernelFunction torchNpus_;
};

/// native_dropout(input, p, train) -> output, mask, in operators on "npu", so that its numbers are
/// those of the device's generator, and not those of the generator of "cpu":
/// output = input * mask / (1 - p). The mask has the strides of "cpu", because numbers are drawn in
/// the order of memory.
class DropoutKernel : public c10::OperatorKernel {
 public:
    void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack);
};

/// The kernel of histc, which counts integers on accelerators. torch's kernel for "cpu" has none
/// for them.
class HistcKernel : public c10::OperatorKernel {
 public:
    explicit HistcKernel(const Operator& op) : host_(op) {}
    void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet keys,
                    torch::jit::Stack* stack);

 private:
    HostKernel host_;
};

}  // namespace advstep_torch
