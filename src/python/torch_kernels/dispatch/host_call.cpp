// SPDX-License-Identifier: Apache-2.0
// Chooses between torch's kernel and the library's zeros.

#include "torch_kernels/dispatch/host_call.h"

#include "torch_kernels/device/current_stream.h"

namespace advstep_torch {
namespace {

// Fills the tensor, which is the only argument and the result. Returns false for one that torch
// fills as well.
bool FillWithZeros(const at::Tensor& self) {
    constexpr size_t kLarge = size_t{2} << 20;  // the library gives no page of less back
    if (self.nbytes() < kLarge || !self.is_non_overlapping_and_dense()) {
        return false;
    }
    Check(runtime.zeroMemory(self.mutable_data_ptr(), self.nbytes()), "advstepZeroMemory");
    return true;
}

}  // namespace

void CallOnHost(const Operator& op, torch::jit::Stack* stack) {
    if (!op.Has(Flag::kZeroes) || !FillWithZeros(stack->front().toTensor())) {
        op.handle.callBoxed(*stack);
    }
}

}  // namespace advstep_torch
