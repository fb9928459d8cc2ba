// SPDX-License-Identifier: Apache-2.0
// The tensors of one collective as Gloo gets them: views, bytes, or copies in a wider type.

#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "torch_kernels/device/thread_state.h"
#include "torch_kernels/device/views.h"
#include "torch_kernels/ranks/collective.h"
#include "torch_kernels/ranks/reduction.h"

namespace advstep_torch {

/// Waits for the work of the caller's current stream, before Gloo reads or writes memory.
void WaitForStream(const std::string& name, c10::Device device);

/// One collective as Gloo gets it, during the call that begins it.
class Exchange {
 public:
    /// `name` lives as long as the process.
    Exchange(const char* name, int size);

    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;
    /// If the call failed half way, Gloo still works on the earlier parts, whose memory is kept.
    ~Exchange();

    /// Notes that Gloo works on a part now.
    void PartBegan(c10::intrusive_ptr<c10d::Work> part, const std::shared_ptr<InFlight>& keeper);
    /// Notes that Gloo works on all parts, and that a Work keeps their memory.
    void Began();

    const std::string& name() const { return collective_->name; }
    const std::shared_ptr<Collective>& collective() const { return collective_; }

    /// In, Out and InOut return bytes that Gloo reads, writes, or (in a broadcast) either.
    at::Tensor In(const at::Tensor& npu) { return Bytes(Readable(View(npu))); }

    at::Tensor Out(const at::Tensor& npu);

    at::Tensor InOut(const at::Tensor& npu);

    std::vector<at::Tensor> In(const std::vector<at::Tensor>& tensors);

    std::vector<at::Tensor> Out(const std::vector<at::Tensor>& tensors);

    /// Returns the bytes of all tensors, one after the other.
    at::Tensor JoinedIn(const std::vector<at::Tensor>& tensors);

    /// Returns bytes that Gloo writes, and that are then divided among the tensors.
    at::Tensor JoinedOut(const std::vector<at::Tensor>& tensors);

    Reduction Plan(const at::Tensor& npu, const c10d::ReduceOp& op);

    /// Returns the part of one rank, which may be the memory of the tensor itself, or a copy.
    at::Tensor Addend(const at::Tensor& npu, const Reduction& reduction);

    /// Returns the tensor that Gloo reduces in place. `result`: whether this rank gets the result.
    /// The tensors of other ranks keep their values.
    at::Tensor Reduced(const at::Tensor& npu, const Reduction& reduction, bool result);

    /// Copies the rank's part of a sum over all ranks: `output` gets `sum` from `begin` on.
    void TakePart(const at::Tensor& output, const at::Tensor& sum, int64_t begin,
                  const Reduction& reduction);

    void WaitFor(c10::Device device) const { WaitForStream(name(), device); }

 private:
    static constexpr at::MemoryFormat kContiguous = at::MemoryFormat::Contiguous;

    at::Tensor View(const at::Tensor& npu);

    static bool Plain(const at::Tensor& view);

    static at::Tensor Readable(const at::Tensor& view);

    at::Tensor Staged(const at::Tensor& view, const at::Tensor& stage);

    static at::Tensor AsBytes(const at::Tensor& tensor, at::IntArrayRef sizes);

    /// Gloo copies bytes, so each dtype can be copied, also those that Gloo does not know.
    static at::Tensor Bytes(const at::Tensor& tensor);

    void Average(const at::Tensor& sum, const Reduction& reduction);

    /// Tells the sanitizer of the memory that Gloo reads and writes.
    void Tell() const;

    bool IsOutput(const at::Tensor& npu) const;

    void After(std::function<void()> step) { collective_->after.push_back(std::move(step)); }

    const char* const call_;  // of the backend
    const std::shared_ptr<Collective> collective_;
    std::shared_ptr<InFlight>
        keeper_;                 // null: Gloo works on nothing of it, or a Work stands for it
    const BelowAutograd below_;  // for the calling thread, during the call
    const int size_;
    Views views_;
    at::ScalarType dtype_ = at::ScalarType::Undefined;
};

}  // namespace advstep_torch
