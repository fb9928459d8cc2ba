// SPDX-License-Identifier: Apache-2.0
// Chooses between torch_npu's copy of bytes, a copy in the order of the stream, and one at once.

#include "torch_kernels/dispatch/copy_kernel.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include "torch_kernels/device/thread_state.h"
#include "torch_kernels/dispatch/run_mark.h"
#include "torch_kernels/dispatch/stream_lock.h"

namespace advstep_torch {
namespace {

const Operator& CopyOperator() {
    static auto* const copy =
        new Operator(Describe(c10::Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "")));
    return *copy;
}

void Finish(const at::Tensor& to, torch::jit::Stack* stack, size_t count) {
    const at::Tensor result = to;
    torch::jit::drop(*stack, count);
    stack->emplace_back(result);
}

// Waits for the stream, and raises its failure with the name of the operator. torch_npu's copy
// waits as well, but raises a code only. While recording it refuses the copy itself. A stream that
// has failed looks idle.
void WaitForFailures(const at::Tensor& npu) {
    const c10::OptionalDeviceGuard guard(npu.device());
    const CurrentStream stream(npu.device());
    if (stream.State() != StreamState::kRecording) {
        stream.Wait();
    }
}

// Returns whether a copy between host and device moves plain bytes.
bool AreBytes(const at::Tensor& to, const at::Tensor& from) {
    return IsNpu(to) != IsNpu(from) && to.dtype() == from.dtype() && to.sizes() == from.sizes() &&
           to.is_contiguous() && from.is_contiguous() && !to.is_conj() && !from.is_conj() &&
           !to.is_neg() && !from.is_neg();
}

}  // namespace

CopyKernel::CopyKernel(const Operator& op)
    : op_(op),
      copy_(CopyOperator()),
      torchNpus_(op.handle.getComputedKernelForDispatchKey(c10::DispatchKey::PrivateUse1)),
      host_(copy_),
      intoSelf_(op.handle.schema().name() == "aten::copy_"),
      resizes_(op.handle.schema().name() == "aten::_copy_from_and_resize") {}

void CopyKernel::operator()(const c10::OperatorHandle& handle, c10::DispatchKeySet keys,
                            torch::jit::Stack* stack) {
    const size_t count = op_.handle.schema().arguments().size();
    const auto arguments = torch::jit::last(*stack, count);
    const at::Tensor first = arguments[0].toTensor();
    const at::Tensor second = arguments[1].toTensor();
    const at::Tensor& to = intoSelf_ ? first : second;
    const at::Tensor& from = intoSelf_ ? second : first;
    if (resizes_ && to.sizes() != from.sizes()) {
        to.resize_(from.sizes());
    }
    if (to.numel() == 0 && from.numel() == 0 && to.sizes() == from.sizes()) {
        Finish(to, stack, count);
        return;
    }
    if (IsNpu(to) && IsNpu(from) && to.device() == from.device()) {
        torch::jit::Stack copy{to, from, false};
        host_(copy_.handle, keys, &copy);
        Finish(to, stack, count);
        return;
    }
    if (AreBytes(to, from)) {
        if (count < 3 || !arguments[2].toBool()) {
            WaitForFailures(IsNpu(to) ? to : from);
        }
        torchNpus_.callBoxed(handle, keys, stack);
        return;
    }
    WaitFor(to);
    WaitFor(from);
    {
        const BelowAutograd below;
        Views views;
        const at::Tensor target = IsNpu(to) ? views.Of(to) : to;
        const at::Tensor source = IsNpu(from) ? views.Of(from) : from;
        const at::Tensor& npu = IsNpu(to) ? to : from;
        const c10::OptionalDeviceGuard guard(npu.device());
        const StreamLock lock(CurrentStream(npu.device()).handle());
        target.copy_(source);
    }
    Tell(to, ADVSTEP_RANGE_WRITTEN);
    Tell(from, ADVSTEP_RANGE_READ);
    Finish(to, stack, count);
}

void CopyKernel::Tell(const at::Tensor& tensor, uint64_t use) const {
    if (IsNpu(tensor)) {
        const c10::OptionalDeviceGuard guard(tensor.device());
        RunMark mark(op_.name);
        mark.Add(tensor, use);
        mark.Queue(CurrentStream(tensor.device()));
    }
}

void CopyKernel::WaitFor(const at::Tensor& tensor) const {
    if (!IsNpu(tensor)) {
        return;
    }
    const c10::OptionalDeviceGuard guard(tensor.device());
    const CurrentStream stream(tensor.device());
    const StreamState state = stream.State();
    TORCH_CHECK(state != StreamState::kRecording, op_.name,
                " cannot be captured: it copies between devices with another dtype or layout; "
                "expected it outside the capture");
    if (state == StreamState::kPending) {
        stream.Wait();
    }
}

}  // namespace advstep_torch
