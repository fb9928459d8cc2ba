// SPDX-License-Identifier: Apache-2.0
// The tensors of one collective as Gloo gets them: views, bytes, or copies in a wider type.

#pragma once

#include <torch/csrc/distributed/c10d/Types.hpp>

#include "ranks_work.h"

namespace advstep_torch {

/// The way in which a reduction of one dtype runs with the reductions that Gloo has.
struct Reduction {
    c10d::ReduceOp::RedOpType op;
    at::ScalarType through;  // the dtype that Gloo gets
    bool average = false;
    at::Tensor factor;  // of PREMUL_SUM
};

/// Chooses the reduction. A wider type changes no result: a sum modulo 2^16 is the low half of one
/// modulo 2^32, and a sum of bool is "or", as with NCCL.
inline Reduction ReductionOf(const std::string& name, const c10d::ReduceOp& op,
                             at::ScalarType dtype, Views* views) {
    using Op = c10d::ReduceOp;
    static const char* const names[] = {"SUM",  "AVG", "PRODUCT", "MIN",       "MAX",
                                        "BAND", "BOR", "BXOR",    "PREMUL_SUM"};
    const Op::RedOpType given = op;
    TORCH_CHECK_VALUE(given < Op::UNUSED, name, ": unknown reduction ", static_cast<int>(given));
    const auto refuse = [&] {
        TORCH_CHECK_TYPE(false, name, ": Gloo has no ", names[given], " of ", dtype);
    };
    Reduction reduction{given, dtype};
    const bool bitwise = given == Op::BAND || given == Op::BOR || given == Op::BXOR;
    switch (dtype) {
        case at::kBool:
            if (given == Op::SUM || given == Op::BOR) {
                reduction.op = Op::MAX;
            } else if (given == Op::PRODUCT || given == Op::BAND) {
                reduction.op = Op::MIN;
            }
            reduction.through = at::kByte;
            break;
        case at::kShort:
            reduction.through = at::kInt;
            break;
        case at::kUInt16:
        case at::kUInt32:
            reduction.through = at::kLong;
            break;
        case at::kByte:
        case at::kChar:
        case at::kInt:
        case at::kLong:
            break;
        case at::kHalf:
        case at::kBFloat16:
        case at::kFloat:
        case at::kDouble:
            if (bitwise) {
                refuse();
            }
            break;
        default:
            refuse();
    }
    if (given == Op::AVG || given == Op::PREMUL_SUM) {
        if (!c10::isFloatingType(dtype)) {
            refuse();
        }
        reduction.op = Op::SUM;
        reduction.average = given == Op::AVG;
    }
    if (given == Op::PREMUL_SUM) {
        const auto* const supplement =
            dynamic_cast<const c10d::PreMulSumSupplement*>(op.supplement_.get());
        TORCH_CHECK_VALUE(supplement != nullptr, name, ": PREMUL_SUM has no factor");
        reduction.factor = !supplement->tensor_factor.defined()
                               ? at::scalar_tensor(supplement->double_factor, at::kDouble)
                           : IsNpu(supplement->tensor_factor)
                               ? views->Of(supplement->tensor_factor).clone()
                               : supplement->tensor_factor;
    }
    return reduction;
}

/// Waits for the work of the caller's current stream, before Gloo reads or writes memory.
inline void WaitForStream(const std::string& name, c10::Device device) {
    const c10::OptionalDeviceGuard guard(device);
    const CurrentStream stream(device);
    const StreamState state = stream.State();
    TORCH_CHECK(state != StreamState::kRecording, name,
                " cannot be captured: ranks exchange on the host; expected it outside the capture");
    if (state == StreamState::kPending) {
        stream.Wait();
    }
}

class Exchange {
 public:
    Exchange(const char* name, int size)
        : collective_(std::make_shared<Collective>()), size_(size) {
        collective_->name = std::string("hccl ") + name;
    }

    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    /// If the call failed half way, Gloo still works on the earlier parts, whose memory is kept.
    ~Exchange() {
        if (keeper_ != nullptr) {
            keeper_->Abandon(collective_);
        }
    }

    /// Notes that Gloo works on a part now.
    void PartBegan(c10::intrusive_ptr<c10d::Work> part, const std::shared_ptr<InFlight>& keeper) {
        keeper_ = keeper;
        collective_->parts.push_back(std::move(part));
    }
    /// Notes that Gloo works on all parts, and that a Work keeps their memory.
    void Began() { keeper_ = nullptr; }

    const std::string& name() const { return collective_->name; }
    const std::shared_ptr<Collective>& collective() const { return collective_; }

    /// In, Out and InOut return bytes that Gloo reads, writes, or (in a broadcast) either.
    at::Tensor In(const at::Tensor& npu) { return Bytes(Readable(View(npu))); }

    at::Tensor Out(const at::Tensor& npu) {
        const at::Tensor view = View(npu);
        collective_->outputs.push_back(npu);
        return Bytes(Plain(view) ? view : Staged(view, at::empty_like(view, kContiguous)));
    }

    at::Tensor InOut(const at::Tensor& npu) {
        const at::Tensor view = View(npu);
        collective_->outputs.push_back(npu);
        return Bytes(Plain(view) ? view : Staged(view, Readable(view)));
    }

    std::vector<at::Tensor> In(const std::vector<at::Tensor>& tensors) {
        std::vector<at::Tensor> bytes;
        for (const at::Tensor& npu : tensors) {
            bytes.push_back(In(npu));
        }
        return bytes;
    }

    std::vector<at::Tensor> Out(const std::vector<at::Tensor>& tensors) {
        std::vector<at::Tensor> bytes;
        for (const at::Tensor& npu : tensors) {
            bytes.push_back(Out(npu));
        }
        return bytes;
    }

    /// Returns the bytes of all tensors, one after the other.
    at::Tensor JoinedIn(const std::vector<at::Tensor>& tensors) {
        std::vector<at::Tensor> parts;
        for (const at::Tensor& bytes : In(tensors)) {
            parts.push_back(bytes.view({-1}));
        }
        return at::cat(parts);
    }

    /// Returns bytes that Gloo writes, and that are then divided among the tensors.
    at::Tensor JoinedOut(const std::vector<at::Tensor>& tensors) {
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

    Reduction Plan(const at::Tensor& npu, const c10d::ReduceOp& op) {
        const at::Tensor view = View(npu);
        return ReductionOf(name(), op, view.scalar_type(), &views_);
    }

    /// Returns the part of one rank, which may be the memory of the tensor itself, or a copy.
    at::Tensor Addend(const at::Tensor& npu, const Reduction& reduction) {
        at::Tensor from = Readable(View(npu));
        if (reduction.through == at::kByte && from.scalar_type() == at::kBool) {
            return AsBytes(from, from.sizes());
        }
        if (reduction.factor.defined()) {
            from = from.mul(reduction.factor.to(from.scalar_type()));
        }
        return from.to(reduction.through);
    }

    /// Returns the tensor that Gloo reduces in place. `result`: whether this rank gets the result.
    /// The tensors of other ranks keep their values.
    at::Tensor Reduced(const at::Tensor& npu, const Reduction& reduction, bool result) {
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

    /// Copies the rank's part of a sum over all ranks: `output` gets `sum` from `begin` on.
    void TakePart(const at::Tensor& output, const at::Tensor& sum, int64_t begin,
                  const Reduction& reduction) {
        const at::Tensor view = View(output);
        const at::Tensor part = sum.narrow(0, begin, view.numel()).view(view.sizes());
        collective_->outputs.push_back(output);
        Average(part, reduction);
        After([view, part] { view.copy_(part); });
    }

    void WaitFor(c10::Device device) const { WaitForStream(name(), device); }

 private:
    static constexpr at::MemoryFormat kContiguous = at::MemoryFormat::Contiguous;

    at::Tensor View(const at::Tensor& npu) {
        TORCH_CHECK_VALUE(
            npu.defined() && IsNpu(npu) && npu.layout() == c10::kStrided, name(), ": a tensor is ",
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

    static bool Plain(const at::Tensor& view) {
        return view.is_contiguous() && !view.is_conj() && !view.is_neg();
    }

    static at::Tensor Readable(const at::Tensor& view) {
        return Plain(view) ? view : view.resolve_conj().resolve_neg().clone(kContiguous);
    }

    at::Tensor Staged(const at::Tensor& view, const at::Tensor& stage) {
        After([view, stage] { view.copy_(stage); });
        return stage;
    }

    static at::Tensor AsBytes(const at::Tensor& tensor, at::IntArrayRef sizes) {
        at::Tensor bytes = at::detail::make_tensor<c10::TensorImpl>(
            c10::Storage(tensor.storage()), c10::DispatchKeySet(c10::DispatchKey::CPU),
            caffe2::TypeMeta::Make<uint8_t>());
        bytes.unsafeGetTensorImpl()->set_storage_offset(tensor.storage_offset() *
                                                        static_cast<int64_t>(tensor.itemsize()));
        bytes.unsafeGetTensorImpl()->set_sizes_contiguous(sizes);
        return bytes;
    }

    /// Gloo copies bytes, so each dtype can be copied, also those that Gloo does not know.
    static at::Tensor Bytes(const at::Tensor& tensor) {
        std::vector<int64_t> sizes = tensor.sizes().vec();
        sizes.push_back(static_cast<int64_t>(tensor.itemsize()));
        return AsBytes(tensor, sizes);
    }

    void Average(const at::Tensor& sum, const Reduction& reduction) {
        if (reduction.average) {
            After([sum, size = size_] { sum.div_(size); });
        }
    }

    void After(std::function<void()> step) { collective_->after.push_back(std::move(step)); }

    const std::shared_ptr<Collective> collective_;
    std::shared_ptr<InFlight>
        keeper_;                 // null: Gloo works on nothing of it, or a Work stands for it
    const BelowAutograd below_;  // for the calling thread, during the call
    const int size_;
    Views views_;
    at::ScalarType dtype_ = at::ScalarType::Undefined;
};

}  // namespace advstep_torch
