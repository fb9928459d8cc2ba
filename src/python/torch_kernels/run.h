// SPDX-License-Identifier: Apache-2.0
// The kernels of "npu" operators: they run torch's kernels for "cpu", at once or in stream order.

#pragma once

#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "queued.h"
#include "shapes.h"
#include "without_data.h"

namespace advstep_torch {

class HostKernel : public c10::OperatorKernel {
 public:
    explicit HostKernel(const Operator& op) : op_(op), shapes_(op) {}

    void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) {
        const size_t count = op_.handle.schema().arguments().size();
        const auto arguments = torch::jit::last(*stack, count);
        const std::optional<c10::Device> device = DeviceOf(op_, arguments);
        if (!device || device->type() != kNpu) {  // lists without tensors, for example
            CallHost(std::vector<c10::IValue>(arguments.begin(), arguments.end()), stack, count);
            return;
        }
        CheckScalars(op_, arguments, *device);
        const int threads = ThreadsOfCaller();
        const c10::OptionalDeviceGuard guard(*device);
        const CurrentStream stream(*device);
        StreamState state = stream.State();
        if (state == StreamState::kPending && settings.blocking) {
            stream.Wait();
            state = StreamState::kIdle;
        }
        if (state == StreamState::kIdle && (!settings.queueAlways || settings.blocking)) {
            RunAtOnce(arguments, *device, stream, threads, stack);
        } else if (!Queue(arguments, *device, stream, state, threads, stack)) {
            const std::vector<c10::IValue> kept(arguments.begin(), arguments.end());
            stream.Wait();
            RunAtOnce(arguments, *device, stream, threads, stack);
            shapes_.Ran(kept);
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
                   const CurrentStream& stream, int threads, torch::jit::Stack* stack) {
        const BelowAutograd below;
        const ThreadsScope scope(threads);
        const DenormalsScope denormals(DenormalsOfCaller());
        if (RunInPlace(arguments, device, stream, stack)) {
            return;
        }
        Views views;
        std::vector<c10::IValue> host = OnHost(op_, arguments, &views, false);
        if (op_.generator >= 0) {
            at::Generator generator = GeneratorOf(op_, arguments, device);
            const std::shared_ptr<Engine> engine = EngineOf(generator);
            const Drawing drawing(generator, engine);
            host[static_cast<size_t>(op_.generator)] = engine->cpu;
            const Turn turn(stream.handle());
            op_.handle.callBoxed(host);
        } else {
            const Turn turn(stream.handle());
            if (op_.ctc) {
                CheckCtcTargets(op_.handle.schema(), host);
            }
            op_.handle.callBoxed(host);
        }
        views.TakeResized();
        std::vector<c10::IValue> results;
        MapTensors(host, &results, [&](const at::Tensor& result) {
            return ResultOf(result, device, stream, views);
        });
        torch::jit::drop(*stack, arguments.size());
        stack->insert(stack->end(), results.begin(), results.end());
    }

    /// Runs an operator that writes large results into their own memory, because copying them costs
    /// more than finding their shapes first. Returns false if the operator has no such form, or its
    /// arguments are small: it has not run then.
    bool RunInPlace(c10::ArrayRef<c10::IValue> arguments, c10::Device device,
                    const CurrentStream& stream, torch::jit::Stack* stack) {
        if (!op_.out || !Large(arguments)) {
            return false;
        }
        const auto shapes = shapes_.Of(arguments, Next::kRunsAtOnce);
        if (!shapes) {
            return false;
        }
        Views views;
        std::vector<c10::IValue> host = OnHost(op_, arguments, &views, false);
        std::vector<at::Tensor> results;
        for (const ResultShapes& result : *shapes) {
            const TensorShape& shape = result.tensors.at(0);
            if (!shape.defined || !shape.dense || shape.conj || shape.neg) {
                return false;
            }
            results.push_back(shape.New(device));
            host.emplace_back(views.Of(results.back()));
        }
        stream.WaitForOthers();
        {
            const Turn turn(stream.handle());
            op_.out->callBoxed(host);
        }
        views.TakeResized();
        shapes_.Ran(arguments);
        torch::jit::drop(*stack, arguments.size());
        stack->insert(stack->end(), results.begin(), results.end());
        return true;
    }

    static bool Large(c10::ArrayRef<c10::IValue> arguments) {
        constexpr size_t kLarge = 64 * 1024;  // bytes
        for (const c10::IValue& value : arguments) {
            if (value.isTensor() && value.toTensor().defined() &&
                value.toTensor().nbytes() >= kLarge) {
                return true;
            }
        }
        return false;
    }

    /// Returns whether the operator resizes an argument, which queued work cannot do.
    bool Grows(c10::ArrayRef<c10::IValue> arguments) const {
        return op_.grows && std::any_of(op_.inPlace.begin(), op_.inPlace.end(), [&](size_t index) {
                   return arguments[index].isTensor() && arguments[index].toTensor().numel() == 0;
               });
    }

    /// Returns false if the operator cannot be queued.
    bool Queue(c10::ArrayRef<c10::IValue> arguments, c10::Device device,
               const CurrentStream& stream, StreamState state, int threads,
               torch::jit::Stack* stack) {
        const bool recording = state == StreamState::kRecording;
        const bool draws = op_.generator >= 0;
        if (draws && !recording) {
            return false;  // the offset of the generator is known after the draws
        }
        if (!recording && (op_.alerts || Promotion::MayWrite(op_, arguments))) {
            return false;  // what torch has once for the process has to be that of the call
        }
        if (Overlaps(op_, arguments, recording) && !recording) {
            return false;
        }
        if (op_.alerts && at::globalContext().deterministicAlgorithms()) {
            WithoutData(op_).ThrowIfNotDeterministic(arguments);
        }
        const bool inOrder = op_.addsInOrder && at::globalContext().deterministicAlgorithms();
        std::shared_ptr<const std::vector<ResultShapes>> shapes;
        if (op_.anyFresh || op_.writes || !op_.onlyTensors || op_.dynamicShape) {
            shapes = Grows(arguments)
                         ? nullptr
                         : shapes_.Of(arguments, recording ? Next::kIsRecorded : Next::kIsQueued);
            if (!shapes) {
                TORCH_CHECK(!recording, op_.name,
                            " cannot be captured: the shapes of its results depend on data, or are "
                            "known only after it has run; expected it outside the capture");
                return false;
            }
        } else if (!op_.inPlace.empty() && shapes_.Refuses(arguments, recording)) {
            return false;
        }
        const BelowAutograd below;
        Views views;
        auto queued = std::make_unique<Queued>(Queued{op_,
                                                      OnHost(op_, arguments, &views, true),
                                                      {},
                                                      {},
                                                      nullptr,
                                                      inOrder ? 1 : threads,
                                                      DenormalsOfCaller(),
                                                      stream.handle(),
                                                      {}});
        queued->written = Written::Of(op_, queued->arguments);
        queued->promotion = Promotion::Of(op_, arguments, shapes.get());
        std::vector<c10::IValue> results;
        const auto make = [&](const TensorShape& shape) {
            if (!shape.defined) {
                return at::Tensor();
            }
            at::Tensor made = shape.New(device);
            queued->results.push_back(views.Of(made));
            return made;
        };
        for (size_t index = 0; index < op_.fresh.size(); ++index) {
            if (!op_.fresh[index]) {
                results.push_back(Aliased(index, arguments));
            } else if (const ResultShapes& result = shapes->at(index); !result.list) {
                results.emplace_back(make(result.tensors.at(0)));
            } else {
                c10::List<at::Tensor> list;
                for (const TensorShape& shape : result.tensors) {
                    list.push_back(make(shape));
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
        // Resizing an output queues torch_npu's copy of its old bytes, which comes first.
        Launch(op_.writes ? CurrentStream(device) : stream, std::move(queued), views, recording,
               recording && !settings.queueAlways);
        torch::jit::drop(*stack, arguments.size());
        stack->insert(stack->end(), results.begin(), results.end());
        return true;
    }

    /// Returns the argument that a return stands for: the one with the same alias set.
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
    Shapes shapes_;
};

}  // namespace advstep_torch
