// SPDX-License-Identifier: Apache-2.0
// The backend "hccl" of torch.distributed: torch's Gloo on the memory of "npu" tensors.

#include <torch/library.h>

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <utility>
#include <vector>

#include "torch_kernels/device/torch_versions.h"
#include "torch_kernels/ranks/collective.h"
#include "torch_kernels/ranks/exchange.h"
#include "torch_kernels/ranks/force_stop.h"

namespace advstep_torch {
namespace {

using c10d::OpType;
using Tensors = std::vector<at::Tensor>;
using Lists = std::vector<Tensors>;
using WorkPointer = c10::intrusive_ptr<c10d::Work>;

/// A collective waits for the caller's stream, and Gloo works on the memory on threads of its own.
/// Calls come without the interpreter's lock. A collective that is not overridden is an error of
/// torch's base, which names it.
class HcclBackend : public c10d::Backend {
 public:
    explicit HcclBackend(c10::intrusive_ptr<c10d::Backend> gloo)
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
        coalesced_.clear();  // of a call that failed before its end
        coalescing_ = true;
    }

    WorkPointer endCoalescing() override {
        const std::lock_guard<std::mutex> lock(mutex_);
        coalescing_ = false;
        return c10::make_intrusive<CoalescedWork>(rank_, std::exchange(coalesced_, {}));
    }

    WorkPointer broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) override {
        Exchange exchange("broadcast", size_);
        for (const at::Tensor& tensor : tensors) {
            Tensors bytes{exchange.InOut(tensor)};
            Add(exchange, [&] { return gloo_->broadcast(bytes, opts); });
        }
        return Begin(OpType::BROADCAST, exchange);
    }

    WorkPointer allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) override {
        Exchange exchange("all_reduce", size_);
        return AllReduce(OpType::ALLREDUCE, exchange, tensors, opts);
    }

    WorkPointer allreduce_coalesced(Tensors& tensors,
                                    const c10d::AllreduceCoalescedOptions& opts) override {
        Exchange exchange("all_reduce_coalesced", size_);
        return AllReduce(OpType::ALLREDUCE_COALESCED, exchange, tensors, opts);
    }

    WorkPointer reduce(Tensors& tensors, const c10d::ReduceOptions& opts) override {
        Exchange exchange("reduce", size_);
        for (const at::Tensor& tensor : tensors) {
            const Reduction reduction = exchange.Plan(tensor, opts.reduceOp);
            Tensors addend{exchange.Reduced(tensor, reduction, rank_ == opts.rootRank)};
            c10d::ReduceOptions gloos = opts;
            gloos.reduceOp = reduction.op;
            Add(exchange, [&] { return gloo_->reduce(addend, gloos); });
        }
        return Begin(OpType::REDUCE, exchange);
    }

    WorkPointer allgather(Lists& outputs, Tensors& inputs,
                          const c10d::AllgatherOptions& opts) override {
        Exchange exchange("all_gather", size_);
        CheckCount(exchange, "lists", outputs.size(), inputs.size());
        for (size_t index = 0; index < inputs.size(); ++index) {
            AllGatherList(exchange, outputs[index], inputs[index], opts);
        }
        return Begin(OpType::ALLGATHER, exchange);
    }

    WorkPointer _allgather_base(at::Tensor& output, at::Tensor& input,
                                const c10d::AllgatherOptions& opts) override {
        Exchange exchange("all_gather_into_tensor", size_);
        AllGatherInto(exchange, output, input, opts);
        return Begin(OpType::_ALLGATHER_BASE, exchange);
    }

    WorkPointer allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                const c10d::AllgatherOptions& opts) override {
        Exchange exchange("all_gather_into_tensor_coalesced", size_);
        CheckCount(exchange, "outputs", outputs.size(), inputs.size());
        for (size_t index = 0; index < inputs.size(); ++index) {
            AllGatherInto(exchange, outputs[index], inputs[index], opts);
        }
        return Begin(OpType::COALESCED, exchange);
    }

    WorkPointer allgather_coalesced(Lists& outputs, Tensors& inputs,
                                    const c10d::AllgatherOptions& opts) override {
        Exchange exchange("all_gather_coalesced", size_);
        CheckCount(exchange, "lists", outputs.size(), static_cast<size_t>(size_));
        for (size_t index = 0; index < inputs.size(); ++index) {
            Tensors out;
            for (const Tensors& ofRank : outputs) {
                CheckCount(exchange, "outputs of a rank", ofRank.size(), inputs.size());
                out.push_back(ofRank[index]);
            }
            AllGatherList(exchange, out, inputs[index], opts);
        }
        return Begin(OpType::ALLGATHER_COALESCED, exchange);
    }

    WorkPointer gather(Lists& outputs, Tensors& inputs, const c10d::GatherOptions& opts) override {
        Exchange exchange("gather", size_);
        Tensors in = exchange.In(inputs);
        Lists out = Out(exchange, outputs);
        Add(exchange, [&] { return gloo_->gather(out, in, opts); });
        return Begin(OpType::GATHER, exchange);
    }

    WorkPointer scatter(Tensors& outputs, Lists& inputs,
                        const c10d::ScatterOptions& opts) override {
        Exchange exchange("scatter", size_);
        Lists in;
        for (const Tensors& list : inputs) {
            in.push_back(exchange.In(list));
        }
        Tensors out = exchange.Out(outputs);
        Add(exchange, [&] { return gloo_->scatter(out, in, opts); });
        return Begin(OpType::SCATTER, exchange);
    }

    WorkPointer reduce_scatter(Tensors& outputs, Lists& inputs,
                               const c10d::ReduceScatterOptions& opts) override {
        Exchange exchange("reduce_scatter", size_);
        CheckCount(exchange, "lists", inputs.size(), outputs.size());
        for (size_t index = 0; index < outputs.size(); ++index) {
            CheckCount(exchange, "inputs", inputs[index].size(), static_cast<size_t>(size_));
            const at::Tensor& mine = inputs[index][static_cast<size_t>(rank_)];
            TORCH_CHECK_VALUE(mine.numel() == outputs[index].numel(), exchange.name(),
                              ": the output is ", outputs[index].sizes(), "; expected ",
                              mine.sizes());
            ReduceParts(exchange, outputs[index], inputs[index], opts);
        }
        return Begin(OpType::REDUCE_SCATTER, exchange);
    }

    WorkPointer _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                     const c10d::ReduceScatterOptions& opts) override {
        Exchange exchange("reduce_scatter_tensor", size_);
        ReduceInto(exchange, output, input, opts);
        return Begin(OpType::_REDUCE_SCATTER_BASE, exchange);
    }

    WorkPointer reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                const c10d::ReduceScatterOptions& opts) override {
        Exchange exchange("reduce_scatter_tensor_coalesced", size_);
        CheckCount(exchange, "outputs", outputs.size(), inputs.size());
        for (size_t index = 0; index < inputs.size(); ++index) {
            ReduceInto(exchange, outputs[index], inputs[index], opts);
        }
        return Begin(ReduceScatterTensorCoalesced<OpType>(), exchange);
    }

    WorkPointer alltoall_base(at::Tensor& output, at::Tensor& input,
                              std::vector<int64_t>& outputSizes, std::vector<int64_t>& inputSizes,
                              const c10d::AllToAllOptions& opts) override {
        Exchange exchange("all_to_all_single", size_);
        CheckParts(exchange, "input", input, inputSizes);
        CheckParts(exchange, "output", output, outputSizes);
        at::Tensor in = exchange.In(input);
        at::Tensor out = exchange.Out(output);
        Add(exchange, [&] { return gloo_->alltoall_base(out, in, outputSizes, inputSizes, opts); });
        return Begin(OpType::ALLTOALL_BASE, exchange);
    }

    WorkPointer alltoall(Tensors& outputs, Tensors& inputs,
                         const c10d::AllToAllOptions& opts) override {
        Exchange exchange("all_to_all", size_);
        CheckCount(exchange, "inputs", inputs.size(), static_cast<size_t>(size_));
        CheckCount(exchange, "outputs", outputs.size(), static_cast<size_t>(size_));
        CheckOwn(exchange, outputs[static_cast<size_t>(rank_)], inputs[static_cast<size_t>(rank_)]);
        at::Tensor in = exchange.JoinedIn(inputs);
        at::Tensor out = exchange.JoinedOut(outputs);
        std::vector<int64_t> given = Bytes(inputs);
        std::vector<int64_t> got = Bytes(outputs);
        Add(exchange, [&] { return gloo_->alltoall_base(out, in, got, given, opts); });
        return Begin(OpType::ALLTOALL, exchange);
    }

    WorkPointer send(Tensors& tensors, int to, int tag) override {
        Exchange exchange("send", size_);
        Tensors in = exchange.In(tensors);
        Add(exchange, [&] { return gloo_->send(in, to, tag); });
        return Begin(OpType::SEND, exchange);
    }

    WorkPointer recv(Tensors& tensors, int from, int tag) override {
        Exchange exchange("recv", size_);
        Tensors out = InPlace(exchange, tensors);
        Add(exchange, [&] { return gloo_->recv(out, from, tag); });
        return Begin(OpType::RECV, exchange);
    }

    WorkPointer recvAnysource(Tensors& tensors, int tag) override {
        Exchange exchange("recv of any rank", size_);
        Tensors out = InPlace(exchange, tensors);
        Add(exchange, [&] { return gloo_->recvAnysource(out, tag); });
        return Begin(OpType::RECVANYSOURCE, exchange);
    }

    WorkPointer barrier(const c10d::BarrierOptions& opts) override {
        Exchange exchange("barrier", size_);
        exchange.WaitFor(Device());
        Add(exchange, [&] { return gloo_->barrier(opts); });
        return Begin(OpType::BARRIER, exchange);
    }

    void monitoredBarrier(const c10d::BarrierOptions& opts, bool waitAllRanks) override {
        WaitForStream("hccl monitored_barrier", Device());
        gloo_->monitoredBarrier(opts, waitAllRanks);
    }

 private:
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
        ForceStop::OfProcess().Follow(collective);
        const std::lock_guard<std::mutex> lock(mutex_);
        if (coalescing_) {
            coalesced_.push_back(work);
        }
        return work;
    }

    c10::Device Device() const {
        return getBoundDeviceId().value_or(c10::impl::VirtualGuardImpl(kNpu).getDevice());
    }

    static Lists Out(Exchange& exchange, const Lists& lists) {
        Lists bytes;
        for (const Tensors& list : lists) {
            bytes.push_back(exchange.Out(list));
        }
        return bytes;
    }

    static std::vector<int64_t> Bytes(const Tensors& tensors) {
        std::vector<int64_t> bytes;
        for (const at::Tensor& tensor : tensors) {
            bytes.push_back(static_cast<int64_t>(tensor.nbytes()));
        }
        return bytes;
    }

    /// Returns the memory of the tensors itself, because no step runs after a receive.
    static Tensors InPlace(Exchange& exchange, const Tensors& tensors) {
        for (const at::Tensor& tensor : tensors) {
            TORCH_CHECK_VALUE(tensor.is_contiguous(), exchange.name(),
                              ": the tensor is not contiguous; expected a contiguous one");
        }
        return exchange.Out(tensors);
    }

    // The members are destroyed from the last: Gloo comes first, and waits for its work.
    const std::shared_ptr<InFlight> inFlight_;
    const c10::intrusive_ptr<c10d::Backend> gloo_;

    std::mutex mutex_;  // guards the two below
    bool coalescing_ = false;
    std::vector<WorkPointer> coalesced_;
};

/// Puts the backend for "npu" beside the Gloo that the group has for "cpu".
void AddHccl(const c10::intrusive_ptr<c10d::ProcessGroup>& group) {
    group->setBackend(kNpu, c10d::ProcessGroup::BackendType::CUSTOM,
                      c10::make_intrusive<HcclBackend>(group->getBackend(c10::kCPU)));
}

TORCH_LIBRARY(advance_step, library) {
    library.def("add_hccl(__torch__.torch.classes.c10d.ProcessGroup group) -> ()", &AddHccl);
    library.def("stop_hccl(bool stopped) -> ()",
                [](bool stopped) { ForceStop::OfProcess().Set(stopped); });
}

}  // namespace
}  // namespace advstep_torch
