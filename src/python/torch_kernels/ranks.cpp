// SPDX-License-Identifier: Apache-2.0
// The backend "hccl" of torch.distributed: torch's Gloo on the memory of "npu" tensors.

#include <torch/library.h>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "ranks_reduce.h"

namespace advstep_torch {
namespace {

using c10d::OpType;
using Lists = std::vector<Tensors>;

/// A collective that is not overridden is an error of torch's base, which names it.
class HostBackend : public HostCalls {
 public:
    using HostCalls::HostCalls;

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
        return Begin(OpType::REDUCE_SCATTER_TENSOR_COALESCED, exchange);
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
};

/// Puts the backend for "npu" beside the Gloo that the group has for "cpu".
void AddHccl(const c10::intrusive_ptr<c10d::ProcessGroup>& group) {
    group->setBackend(kNpu, c10d::ProcessGroup::BackendType::CUSTOM,
                      c10::make_intrusive<HostBackend>(group->getBackend(c10::kCPU)));
}

TORCH_LIBRARY(advance_step, library) {
    library.def("add_hccl(__torch__.torch.classes.c10d.ProcessGroup group) -> ()", &AddHccl);
}

}  // namespace
}  // namespace advstep_torch
