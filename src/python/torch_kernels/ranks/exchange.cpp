// SPDX-License-Identifier: Apache-2.0
// Makes bytes of tensors for Gloo, and notes what is to be done when it has ended.

#include "torch_kernels/ranks/exchange.h"

#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <utility>

#include "torch_kernels/ranks/force_stop.h"

namespace advstep_torch {

void WaitForStream(const std::string& name, c10::Device device) {
    const c10::OptionalDeviceGuard guard(device);
    const CurrentStream stream(device);
    const StreamState state = stream.State();
    TORCH_CHECK(state != StreamState::kRecording, name,
                " cannot be captured: ranks exchange on the host; expected it outside the capture");
    if (state == StreamState::kPending) {
        stream.Wait();
    }
}

Exchange::Exchange(const char* name, int size)
    : call_(name), collective_(std::make_shared<Collective>()), size_(size) {
    collective_->name = std::string("hccl ") + name;
    ForceStop::OfProcess().Check(collective_->name);
}

Exchange::~Exchange() {
    if (keeper_ != nullptr) {
        keeper_->Abandon(collective_);
    }
}

void Exchange::PartBegan(c10::intrusive_ptr<c10d::Work> part,
                         const std::shared_ptr<InFlight>& keeper) {
    keeper_ = keeper;
    collective_->parts.push_back(std::move(part));
}

void Exchange::Began() {
    Tell();
    keeper_ = nullptr;
}

at::Tensor Exchange::Out(const at::Tensor& npu) {
    const at::Tensor view = View(npu);
    collective_->outputs.push_back(npu);
    return Bytes(Plain(view) ? view : Staged(view, at::empty_like(view, kContiguous)));
}

at::Tensor Exchange::InOut(const at::Tensor& npu) {
    const at::Tensor view = View(npu);
    collective_->outputs.push_back(npu);
    return Bytes(Plain(view) ? view : Staged(view, Readable(view)));
}

std::vector<at::Tensor> Exchange::In(const std::vector<at::Tensor>& tensors) {
    std::vector<at::Tensor> bytes;
    for (const at::Tensor& npu : tensors) {
        bytes.push_back(In(npu));
    }
    return bytes;
}

std::vector<at::Tensor> Exchange::Out(const std::vector<at::Tensor>& tensors) {
    std::vector<at::Tensor> bytes;
    for (const at::Tensor& npu : tensors) {
        bytes.push_back(Out(npu));
    }
    return bytes;
}

at::Tensor Exchange::JoinedIn(const std::vector<at::Tensor>& tensors) {
    std::vector<at::Tensor> parts;
    for (const at::Tensor& bytes : In(tensors)) {
        parts.push_back(bytes.view({-1}));
    }
    return at::cat(parts);
}

at::Tensor Exchange::JoinedOut(const std::vector<at::Tensor>& tensors) {
    std::vector<at::Tensor> views;
    int64_t elements = 0;
    for (const at::Tensor& npu : tensors) {
        views.push_back(View(npu));
        collective_->outputs.push_back(npu);
        elements += npu.numel();
    }
    const at::Tensor whole = at::empty({elements}, views.at(0).options());
    int64_t begin = 0;
    for (const at::Tensor& view : views) {
        const at::Tensor part = whole.narrow(0, begin, view.numel()).view(view.sizes());
        After([view, part] { view.copy_(part); });
        begin += view.numel();
    }
    return Bytes(whole).view({-1});
}

Reduction Exchange::Plan(const at::Tensor& npu, const c10d::ReduceOp& op) {
    const at::Tensor view = View(npu);
    return ReductionOf(name(), op, view.scalar_type(), &views_);
}

at::Tensor Exchange::Addend(const at::Tensor& npu, const Reduction& reduction) {
    at::Tensor from = Readable(View(npu));
    if (reduction.through == at::kByte && from.scalar_type() == at::kBool) {
        return AsBytes(from, from.sizes());
    }
    if (reduction.factor.defined()) {
        from = from.mul(reduction.factor.to(from.scalar_type()));
    }
    return from.to(reduction.through);
}

at::Tensor Exchange::Reduced(const at::Tensor& npu, const Reduction& reduction, bool result) {
    const at::Tensor view = View(npu);
    at::Tensor addend = Addend(npu, reduction);
    const bool same = addend.storage().data() == view.storage().data();
    if (!result) {
        return same ? addend.clone() : addend;
    }
    collective_->outputs.push_back(npu);
    Average(addend, reduction);
    if (!same) {
        After([view, addend] { view.copy_(addend); });
    }
    return addend;
}

void Exchange::TakePart(const at::Tensor& output, const at::Tensor& sum, int64_t begin,
                        const Reduction& reduction) {
    const at::Tensor view = View(output);
    const at::Tensor part = sum.narrow(0, begin, view.numel()).view(view.sizes());
    collective_->outputs.push_back(output);
    Average(part, reduction);
    After([view, part] { view.copy_(part); });
}

at::Tensor Exchange::View(const at::Tensor& npu) {
    TORCH_CHECK_VALUE(npu.defined() && IsNpu(npu) && npu.layout() == c10::kStrided, name(),
                      ": a tensor is ",
                      !npu.defined() ? "undefined" : c10::str(npu.layout(), " on ", npu.device()),
                      "; expected Strided on npu");
    if (dtype_ == at::ScalarType::Undefined) {
        dtype_ = npu.scalar_type();
    }
    TORCH_CHECK_TYPE(npu.scalar_type() == dtype_, name(), ": a tensor is ", npu.scalar_type(),
                     "; expected ", dtype_, " as of the first");
    const bool known =
        std::any_of(collective_->tensors.begin(), collective_->tensors.end(),
                    [&](const at::Tensor& tensor) { return tensor.device() == npu.device(); });
    if (!known) {
        WaitFor(npu.device());
    }
    collective_->tensors.push_back(npu);
    return views_.Of(npu);
}

bool Exchange::Plain(const at::Tensor& view) {
    return view.is_contiguous() && !view.is_conj() && !view.is_neg();
}

at::Tensor Exchange::Readable(const at::Tensor& view) {
    return Plain(view) ? view : view.resolve_conj().resolve_neg().clone(kContiguous);
}

at::Tensor Exchange::Staged(const at::Tensor& view, const at::Tensor& stage) {
    After([view, stage] { view.copy_(stage); });
    return stage;
}

at::Tensor Exchange::AsBytes(const at::Tensor& tensor, at::IntArrayRef sizes) {
    at::Tensor bytes = at::detail::make_tensor<c10::TensorImpl>(
        c10::Storage(tensor.storage()), c10::DispatchKeySet(c10::DispatchKey::CPU),
        caffe2::TypeMeta::Make<uint8_t>());
    bytes.unsafeGetTensorImpl()->set_storage_offset(tensor.storage_offset() *
                                                    static_cast<int64_t>(tensor.itemsize()));
    bytes.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
    return bytes;
}

at::Tensor Exchange::Bytes(const at::Tensor& tensor) {
    std::vector<int64_t> sizes = tensor.sizes().vec();
    sizes.push_back(static_cast<int64_t>(tensor.itemsize()));
    return AsBytes(tensor, sizes);
}

bool Exchange::IsOutput(const at::Tensor& npu) const {
    return std::any_of(collective_->outputs.begin(), collective_->outputs.end(),
                       [&](const at::Tensor& output) { return output.is_same(npu); });
}

// The host waits for the mark, so that it has no order of a stream alone: the host may use the
// results in any stream once it has waited for Gloo. What it does before is not told.
void Exchange::Tell() const {
    if (!settings.tellsRuns) {
        return;
    }
    std::vector<c10::Device> told;
    for (const at::Tensor& first : collective_->tensors) {
        const c10::Device device = first.device();
        if (std::find(told.begin(), told.end(), device) != told.end()) {
            continue;
        }
        told.push_back(device);
        Views views;
        for (const at::Tensor& npu : collective_->tensors) {
            if (npu.device() == device) {
                (void)views.Of(npu);
            }
        }
        const std::vector<AdvStepMemoryRange> ranges = views.Ranges([&](const at::Tensor& view) {
            return IsOutput(views.TensorOf(view)) ? ADVSTEP_RANGE_WRITTEN : ADVSTEP_RANGE_READ;
        });
        if (!ranges.empty()) {
            const c10::OptionalDeviceGuard guard(device);
            const CurrentStream stream(device);
            stream.QueueMark(call_, ranges);
            stream.Wait();
        }
    }
}

void Exchange::Average(const at::Tensor& sum, const Reduction& reduction) {
    if (reduction.average) {
        After([sum, size = size_] { sum.div_(size); });
    }
}

}  // namespace advstep_torch
