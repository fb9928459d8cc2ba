// SPDX-License-Identifier: Apache-2.0
// Copies between "npu" tensors, and between them and "cpu".

#pragma once

#include "torch_kernels/dispatch/host_kernel.h"

namespace advstep_torch {

/// copy_(self, src), _copy_from(self, dst) and _copy_from_and_resize(self, dst). A plain copy
/// between host and device, of bytes, stays torch_npu's.
class CopyKernel : public c10::OperatorKernel {
 public:
    explicit CopyKernel(const Operator& op);

    void operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet keys,
                    torch::jit::Stack* stack);

 private:
    /// Waits for the tensor's stream, before "cpu" reads or writes its memory. It refuses that
    /// while recording.
    void WaitFor(const at::Tensor& tensor) const;
    /// Tells the sanitizer how "cpu" has used the tensor's memory.
    void Tell(const at::Tensor& tensor, uint64_t use) const;

    const Operator& op_;
    const Operator& copy_;
    c10::SafeKernelFunction torchNpus_;
    HostKernel host_;
    const bool intoSelf_;
    const bool resizes_;
};

}  // namespace advstep_torch
