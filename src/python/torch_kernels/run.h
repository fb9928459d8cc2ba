// SPDX-License-Identifier: Apache-2.0
// The kernels of "npu" operators: they run torch's kernels for "cpu", at once or in stream order.

#pragma once

#include <c10/core/DeviceGuard.h>

#include <memory>
#include <utility>

#include "queued.h"

namespace advstep_torch {

class HostKernel : public c10::OperatorKernel {
 public:
    explicit HostKernel(const Operator& op) : op_(op) {}

    void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) {
        const size_t count = op_.handle.schema().arguments().size();
        const auto arguments = torch::jit::last(*stack, count);
        const std::optional<c10::Device> device = DeviceOf(op_, arguments);
        if (!device || device->type() != kNpu) {  // lists without tensors, for example
            CallHost(std::vector<c10::IValue>(arguments.begin(), arguments.end()), stack, count);
            return;
        }
        const c10::OptionalDeviceGuard guard(*device);
        const CurrentStream stream(*device);
        StreamState state = stream.State();
        if (state == StreamState::kPending && settings.blocking) {
            stream.Wait();
            state = StreamState::kIdle;
        }
        if (state == StreamState::kIdle && (!settings.queueAlways || settings.blocking)) {
            RunAtOnce(arguments, *device, stack);
        } else if (!Queue(arguments, *device, stream, state, stack)) {
            stream.Wait();
            RunAtOnce(arguments, *device, stack);
        }
    }

 private:
    void CallHost(std::vector<c10::IValue> arguments, torch::jit::Stack* stack, size_t count) {
        const BelowAutograd below;
        op_.handle.callBoxed(arguments);
        torch::jit::drop(*stack, count);
        stack->insert(stack->end(), arguments.begin(), arguments.end());
    }

    void RunAtOnce(c10::ArrayRef<c10::IValue> arguments, c10::Device device,
                   torch::jit::Stack* stack) {
        const BelowAutograd below;
        Views views;
        std::vector<c10::IValue> host = OnHost(op_, arguments, device, &views, false);
        if (op_.generator >= 0) {
            at::Generator generator = GeneratorOf(op_, arguments, device);
            const std::shared_ptr<Engine> engine = EngineOf(generator);
            const Drawing drawing(generator, engine);
            host[static_cast<size_t>(op_.generator)] = engine->cpu;
            op_.handle.callBoxed(host);
        } else {
            op_.handle.callBoxed(host);
        }
        views.TakeResized();
        std::vector<c10::IValue> results;
        MapTensors(host, &results,
                   [&](const at::Tensor& result, int) { return ResultOf(result, device, views); });
        torch::jit::drop(*stack, arguments.size());
        stack->insert(stack->end(), results.begin(), results.end());
    }

    bool Dynamic(c10::ArrayRef<c10::IValue> arguments) const {
        if (!op_.onlyTensors || !op_.dynamicShape || !op_.boolIndices) {
            return !op_.onlyTensors || op_.dynamicShape;
        }
        for (const c10::IValue& index : arguments[static_cast<size_t>(op_.indices)].toListRef()) {
            if (index.isTensor() && (index.toTensor().scalar_type() == at::kBool ||
                                     index.toTensor().scalar_type() == at::kByte)) {
                return true;
            }
        }
        return false;
    }

    /// The results on "meta", which say the shapes. Empty: the shapes depend on data, or torch has
    /// no such function.
    std::optional<std::vector<c10::IValue>> Shapes(c10::ArrayRef<c10::IValue> arguments,
                                                   bool recording) {
        if (Dynamic(arguments)) {
            return std::nullopt;
        }
        std::vector<c10::IValue> meta;
        std::vector<std::pair<const void*, at::Tensor>> known;
        MapTensors(arguments, &meta, [&](const at::Tensor& tensor, int) {
            if (!IsNpu(tensor)) {
                return tensor;
            }
            for (const auto& [impl, made] : known) {
                if (impl == tensor.unsafeGetTensorImpl()) {
                    return made;
                }
            }
            at::Tensor made = NewLike(tensor, c10::Device(c10::kMeta));
            known.emplace_back(tensor.unsafeGetTensorImpl(), made);
            return made;
        });
        if (op_.device >= 0) {
            meta[static_cast<size_t>(op_.device)] = c10::Device(c10::kMeta);
        }
        if (op_.generator >= 0) {
            meta[static_cast<size_t>(op_.generator)] = c10::IValue();
        }
        if (op_.pinMemory >= 0) {
            meta[static_cast<size_t>(op_.pinMemory)] = c10::IValue();
        }
        const std::vector<c10::IValue> given = meta;
        const BelowAutograd below;
        try {
            op_.handle.callBoxed(meta);
        } catch (const c10::NotImplementedError&) {
            return std::nullopt;
        } catch (const std::exception&) {
            if (recording) {
                throw;
            }
            return std::nullopt;  // the kernel itself says what is wrong
        }
        if (op_.writes) {
            Resize(arguments, given);
        }
        return meta;
    }

    /// Gives out= arguments the shapes that those on "meta" have now.
    void Resize(c10::ArrayRef<c10::IValue> arguments, const std::vector<c10::IValue>& meta) const {
        for (size_t index = 0; index < arguments.size(); ++index) {
            if (!op_.handle.schema().arguments()[index].is_out() || !arguments[index].isTensor() ||
                !meta[index].isTensor() || !meta[index].toTensor().defined()) {
                continue;
            }
            const at::Tensor npu = arguments[index].toTensor();
            const at::Tensor like = meta[index].toTensor();
            if (npu.sizes() != like.sizes()) {
                npu.resize_(like.sizes());
                npu.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides());
            }
        }
    }

    /// Returns false if the operator cannot be queued.
    bool Queue(c10::ArrayRef<c10::IValue> arguments, c10::Device device,
               const CurrentStream& stream, StreamState state, torch::jit::Stack* stack) {
        const bool recording = state == StreamState::kRecording;
        const bool draws = op_.generator >= 0;
        if (draws && !recording) {
            return false;  // the offset of the generator is known after the draws
        }
        std::vector<c10::IValue> shapes;
        if (op_.anyFresh || op_.writes || !op_.onlyTensors || op_.dynamicShape) {
            std::optional<std::vector<c10::IValue>> found = Shapes(arguments, recording);
            if (!found) {
                TORCH_CHECK(!recording, op_.name,
                            " cannot be captured: the shapes of its results depend on data, or are "
                            "known only after it has run; expected it outside the capture");
                return false;
            }
            shapes = std::move(*found);
        }
        const BelowAutograd below;
        Views views;
        auto queued = std::make_unique<Queued>(Queued{op_,
                                                      OnHost(op_, arguments, device, &views, true),
                                                      {},
                                                      {},
                                                      nullptr,
                                                      at::get_num_threads()});
        std::vector<c10::IValue> results;
        const auto make = [&](const at::Tensor& like) {
            if (!like.defined()) {
                return like;
            }
            at::Tensor made = NewLike(like, device);
            queued->results.push_back(views.Of(made));
            return made;
        };
        for (size_t index = 0; index < op_.fresh.size(); ++index) {
            if (!op_.fresh[index]) {
                results.push_back(Aliased(index, arguments));
            } else if (shapes.at(index).isTensor()) {
                results.emplace_back(make(shapes[index].toTensor()));
            } else {
                c10::List<at::Tensor> list;
                for (const at::Tensor& like : shapes[index].toTensorVector()) {
                    list.push_back(make(like));
                }
                results.emplace_back(std::move(list));
            }
        }
        if (draws) {
            queued->generator = GeneratorOf(op_, arguments, device);
            queued->engine = EngineOf(queued->generator);
            queued->arguments[static_cast<size_t>(op_.generator)] = c10::IValue();
            drawsRecorded.fetch_add(1);
        }
        Launch(stream, std::move(queued), views);
        torch::jit::drop(*stack, arguments.size());
        stack->insert(stack->end(), results.begin(), results.end());
        return true;
    }

    /// The argument that a return stands for: the one with the same alias set.
    c10::IValue Aliased(size_t index, c10::ArrayRef<c10::IValue> arguments) const {
        const c10::FunctionSchema& schema = op_.handle.schema();
        const c10::AliasInfo* const wanted = schema.returns()[index].alias_info();
        for (size_t at = 0; at < arguments.size(); ++at) {
            const c10::AliasInfo* const info = schema.arguments()[at].alias_info();
            if (info != nullptr && info->beforeSets() == wanted->beforeSets()) {
                return arguments[at];
            }
        }
        TORCH_CHECK(false, op_.name, ": no argument for return ", index);
    }

    const Operator& op_;
};

}  // namespace advstep_torch
