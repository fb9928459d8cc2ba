// SPDX-License-Identifier: Apache-2.0
// The common parts of the collectives of "hccl": their begin, and those that Gloo runs as another.

#pragma once

#include <memory>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>
#include <vector>

#include "ranks_call.h"
#include "ranks_together.h"

namespace advstep_torch {

using Tensors = std::vector<at::Tensor>;
using WorkPointer = c10::intrusive_ptr<c10d::Work>;

/// A collective waits for the caller's stream, and Gloo works on the memory on threads of its own.
/// Calls come without the interpreter's lock.
class HostCalls : public c10d::Backend {
 public:
    explicit HostCalls(c10::intrusive_ptr<c10d::Backend> gloo)
        : Backend(gloo->getRank(), gloo->getSize()),
          inFlight_(std::make_shared<InFlight>()),
          gloo_(std::move(gloo)) {}

    const std::string getBackendName() const override { return "hccl"; }
    c10::intrusive_ptr<Options> getBackendOptions() override { return gloo_->getBackendOptions(); }
    void setTimeout(std::chrono::milliseconds timeout) override { gloo_->setTimeout(timeout); }
    void setSequenceNumberForGroup() override { gloo_->setSequenceNumberForGroup(); }
    uint64_t getSequenceNumberForGroup() override { return gloo_->getSequenceNumberForGroup(); }
    void enableCollectivesTiming() override { gloo_->enableCollectivesTiming(); }
    void abort() override { gloo_->abort(); }
    void shutdown() override { gloo_->shutdown(); }
    bool supportsCoalescing() const override { return true; }

    void startCoalescing() override {
        const std::lock_guard<std::mutex> lock(mutex_);
        together_.clear();  // of a call that failed before its end
        coalescing_ = true;
    }

    WorkPointer endCoalescing() override {
        const std::lock_guard<std::mutex> lock(mutex_);
        coalescing_ = false;
        return c10::make_intrusive<TogetherWork>(rank_, std::exchange(together_, {}));
    }

 protected:
    static void CheckCount(const Exchange& exchange, const char* what, size_t is, size_t expected) {
        TORCH_CHECK_VALUE(is == expected, exchange.name(), ": ", is, " ", what, "; expected ",
                          expected);
    }

    WorkPointer AllReduce(c10d::OpType type, Exchange& exchange, const Tensors& tensors,
                          const c10d::AllreduceOptions& opts) {
        for (const at::Tensor& tensor : tensors) {
            const Reduction reduction = exchange.Plan(tensor, opts.reduceOp);
            Tensors addend{exchange.Reduced(tensor, reduction, true)};
            c10d::AllreduceOptions gloos = opts;
            gloos.reduceOp = reduction.op;
            Add(exchange, [&] { return gloo_->allreduce(addend, gloos); });
        }
        return Begin(type, exchange);
    }

    void AllGatherInto(Exchange& exchange, const at::Tensor& output, const at::Tensor& input,
                       const c10d::AllgatherOptions& opts) {
        TORCH_CHECK_VALUE(output.numel() == input.numel() * size_, exchange.name(),
                          ": the output has ", output.numel(), " elements; expected ", size_,
                          " times ", input.numel());
        at::Tensor in = exchange.In(input);
        at::Tensor out = exchange.Out(output);
        if (out.is_contiguous() && in.is_contiguous()) {
            in = in.view({-1});
            out = out.view({-1});  // Gloo divides the first dimension, which may be 1
        }
        Add(exchange, [&] { return gloo_->_allgather_base(out, in, opts); });
    }

    /// Refuses a tensor of this rank whose number of elements is not that of its counterpart.
    static void CheckOwn(const Exchange& exchange, const at::Tensor& output,
                         const at::Tensor& input) {
        TORCH_CHECK_VALUE(output.numel() == input.numel(), exchange.name(),
                          ": the output of this rank has ", output.numel(), " elements; expected ",
                          input.numel(), " as in its input");
    }

    /// Gathers the inputs of all ranks. Every rank has the list of all sizes, so that all choose
    /// the same form: Gloo's own, or a broadcast of each rank if the sizes differ.
    void AllGatherList(Exchange& exchange, const Tensors& outputs, const at::Tensor& input,
                       const c10d::AllgatherOptions& opts) {
        CheckCount(exchange, "outputs", outputs.size(), static_cast<size_t>(size_));
        const auto own = static_cast<size_t>(rank_);
        CheckOwn(exchange, outputs[own], input);
        Tensors in{exchange.In(input).view({-1})};
        std::vector<Tensors> out(1);
        for (const at::Tensor& bytes : exchange.Out(outputs)) {
            out[0].push_back(bytes.view({-1}));
        }
        if (std::all_of(out[0].begin(), out[0].end(),
                        [&](const at::Tensor& bytes) { return bytes.numel() == in[0].numel(); })) {
            Add(exchange, [&] { return gloo_->allgather(out, in, opts); });
            return;
        }
        out[0][own].copy_(in[0]);
        c10d::BroadcastOptions ofRank;
        ofRank.timeout = opts.timeout;
        for (const at::Tensor& bytes : out[0]) {
            Tensors part{bytes};
            Add(exchange, [&] { return gloo_->broadcast(part, ofRank); });
            ++ofRank.rootRank;
        }
    }

    /// Refuses a tensor that cannot be divided among the ranks, whose rest Gloo would cut off.
    void CheckParts(const Exchange& exchange, const char* name, const at::Tensor& tensor,
                    const std::vector<int64_t>& parts) {
        TORCH_CHECK_VALUE(!parts.empty() || (tensor.dim() != 0 && tensor.size(0) % size_ == 0),
                          exchange.name(), ": the shape of the ", name, " is ", tensor.sizes(),
                          "; expected a first dimension that ", size_, " divides");
    }

    void ReduceInto(Exchange& exchange, const at::Tensor& output, const at::Tensor& input,
                    const c10d::ReduceScatterOptions& opts) {
        TORCH_CHECK_VALUE(input.numel() == output.numel() * size_, exchange.name(),
                          ": the input has ", input.numel(), " elements; expected ", size_,
                          " times ", output.numel());
        ReduceParts(exchange, output, {input}, opts);
    }

    /// Reduces over all ranks and takes this rank's part. Gloo's own form does the same, but ends
    /// only when a thread waits for it.
    void ReduceParts(Exchange& exchange, const at::Tensor& output, const Tensors& inputs,
                     const c10d::ReduceScatterOptions& opts) {
        const Reduction reduction = exchange.Plan(output, opts.reduceOp);
        Tensors flat;
        int64_t begin = inputs.size() == 1 ? output.numel() * rank_ : 0;
        for (size_t index = 0; index < inputs.size(); ++index) {
            flat.push_back(exchange.Addend(inputs[index], reduction).reshape({-1}));
            begin +=
                inputs.size() != 1 && index < static_cast<size_t>(rank_) ? flat.back().numel() : 0;
        }
        Tensors sum{at::cat(flat)};
        exchange.TakePart(output, sum[0], begin, reduction);
        c10d::AllreduceOptions gloos;
        gloos.reduceOp = reduction.op;
        gloos.timeout = opts.timeout;
        Add(exchange, [&] { return gloo_->allreduce(sum, gloos); });
    }

    template <typename Call>
    void Add(Exchange& exchange, Call&& call) {
        exchange.PartBegan(call(), inFlight_);
    }

    WorkPointer Begin(c10d::OpType type, Exchange& exchange) {
        const std::shared_ptr<Collective>& collective = exchange.collective();
        if (!c10d::isP2POp(type)) {
            Collective::Follow(collective);
            inFlight_->Add(collective);
        }
        WorkPointer work = c10::make_intrusive<HostWork>(rank_, type, collective, inFlight_);
        exchange.Began();
        const std::lock_guard<std::mutex> lock(mutex_);
        if (coalescing_) {
            together_.push_back(work);
        }
        return work;
    }

    // The members are destroyed from the last: Gloo comes first, and waits for its work.
    const std::shared_ptr<InFlight> inFlight_;
    const c10::intrusive_ptr<c10d::Backend> gloo_;

 private:
    std::mutex mutex_;  // guards the two below
    bool coalescing_ = false;
    std::vector<WorkPointer> together_;
};

}  // namespace advstep_torch
