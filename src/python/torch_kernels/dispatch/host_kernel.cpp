// SPDX-License-Identifier: Apache-2.0
// Runs operators at once if their stream is idle, and queues them if it is not.

#include "torch_kernels/dispatch/host_kernel.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "torch_kernels/device/generators.h"
#include "torch_kernels/device/thread_state.h"
#include "torch_kernels/dispatch/ctc.h"
#include "torch_kernels/dispatch/host_call.h"
#include "torch_kernels/dispatch/promotion.h"
#include "torch_kernels/dispatch/run_mark.h"
#include "torch_kernels/dispatch/stream_lock.h"
#include "torch_kernels/operators/call_arguments.h"
#include "torch_kernels/shapes/refusals.h"

namespace advstep_torch {
namespace {

std::atomic<uint64_t> drawsRecorded{0};

bool AreLarge(c10::ArrayRef<c10::IValue> arguments) {
    constexpr size_t kLarge = 64 * 1024;  // bytes
    return std::any_of(arguments.begin(), arguments.end(), [](const c10::IValue& value) {
        return value.isTensor() && value.toTensor().defined() &&
               value.toTensor().nbytes() >= kLarge;
    });
}

}  // namespace

void HostKernel::Call::Return(const std::vector<c10::IValue>& results) const {
    torch::jit::drop(*stack, arguments.size());
    stack->insert(stack->end(), results.begin(), results.end());
}

void HostKernel::operator()(const c10::OperatorHandle&, c10::DispatchKeySet,
                            torch::jit::Stack* stack) {
    const auto arguments = torch::jit::last(*stack, op_.handle.schema().arguments().size());
    const std::optional<c10::Device> device = DeviceOf(op_, arguments);
    if (!device || device->type() != kNpu) {  // lists without tensors, for example
        CallHost(std::vector<c10::IValue>(arguments.begin(), arguments.end()), stack);
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
    const Call call{arguments, *device, stream, threads, stack};
    if (const std::optional<WideCall> wide = widened_.Known(op_, arguments)) {
        ReturnOfWide(call, wide->Run(wide->ResultTypes()));
        return;
    }
    std::exception_ptr refusal;
    try {
        Run(call, state);
        return;
    } catch (const std::exception&) {
        refusal = std::current_exception();
    }
    ReturnOfWide(call, widened_.RunAfter(refusal, op_, arguments));
}

void HostKernel::Run(const Call& call, StreamState state) {
    if (state == StreamState::kIdle && (!settings.queueAlways || settings.blocking)) {
        RunAtOnce(call);
    } else if (!Queue(call, state == StreamState::kRecording)) {
        const std::vector<c10::IValue> kept(call.arguments.begin(), call.arguments.end());
        call.stream.Wait();
        RunAtOnce(call);
        shapes_.Ran(kept);
    }
}

void HostKernel::ReturnOfWide(const Call& call, std::vector<c10::IValue> results) const {
    for (size_t index = 0; index < results.size(); ++index) {
        if (!op_.fresh[index]) {
            results[index] = Aliased(index, call.arguments);
        }
    }
    call.Return(results);
}

void HostKernel::CallHost(std::vector<c10::IValue> arguments, torch::jit::Stack* stack) {
    const BelowAutograd below;
    const size_t count = arguments.size();
    op_.handle.callBoxed(arguments);
    torch::jit::drop(*stack, count);
    stack->insert(stack->end(), arguments.begin(), arguments.end());
}

void HostKernel::RunAtOnce(const Call& call) {
    const BelowAutograd below;
    const ThreadsScope threads(call.threads);
    const DenormalsScope denormals(DenormalsOfCaller());
    if (RunInPlace(call)) {
        return;
    }
    Views views;
    std::vector<c10::IValue> host = OnHost(op_, call.arguments, &views, false);
    RunMark mark(op_, views, host);
    if (op_.generator >= 0) {
        at::Generator generator = GeneratorOf(op_, call.arguments, call.device);
        const std::shared_ptr<Engine> engine = EngineOf(generator);
        const Drawing drawing(generator, engine);
        host[static_cast<size_t>(op_.generator)] = engine->cpu;
        const StreamLock lock(call.stream.handle());
        op_.handle.callBoxed(host);
    } else {
        const StreamLock lock(call.stream.handle());
        if (op_.Has(Flag::kIndexesByTargets)) {
            CheckCtcTargets(op_.handle.schema(), host);
        }
        CallOnHost(op_, &host);
    }
    views.TakeResized();
    std::vector<c10::IValue> results;
    MapTensors(host, &results, [&](const at::Tensor& result) {
        return ResultOf(result, call.device, call.stream, views);
    });
    mark.AddResults(call.arguments, results);
    mark.Queue(call.stream);
    call.Return(results);
}

bool HostKernel::RunInPlace(const Call& call) {
    if (!op_.out || !AreLarge(call.arguments)) {
        return false;
    }
    const auto shapes = shapes_.Of(call.arguments, RunAs::kAtOnce);
    if (!shapes) {
        return false;
    }
    Views views;
    std::vector<c10::IValue> host = OnHost(op_, call.arguments, &views, false);
    RunMark mark(op_, views, host);
    std::vector<c10::IValue> results;
    for (const ResultShapes& result : *shapes) {
        const TensorShape& shape = result.tensors.at(0);
        if (!shape.defined || !shape.dense || shape.conj || shape.neg) {
            return false;
        }
        at::Tensor made = shape.New(call.device);
        host.emplace_back(views.Of(made));
        results.emplace_back(std::move(made));
    }
    call.stream.WaitForOthers();
    {
        const StreamLock lock(call.stream.handle());
        op_.out->callBoxed(host);
    }
    views.TakeResized();
    shapes_.Ran(call.arguments);
    mark.AddResults(call.arguments, results);
    mark.Queue(call.stream);
    call.Return(results);
    return true;
}

bool HostKernel::Queue(const Call& call, bool recording) {
    if (!recording && CannotWait(call)) {
        return false;
    }
    if (Overlaps(op_, call.arguments, recording) && !recording) {
        return false;
    }
    const bool deterministic = at::globalContext().deterministicAlgorithms();
    if (op_.Has(Flag::kAlerts) && deterministic) {
        WithoutData(op_).ThrowIfNotDeterministic(call.arguments);
    }
    Shapes::Answer shapes;
    if (NeedsShapes()) {
        shapes = Grows(call.arguments)
                     ? nullptr
                     : shapes_.Of(call.arguments, recording ? RunAs::kRecorded : RunAs::kQueued);
        if (!shapes) {
            TORCH_CHECK(!recording, op_.name,
                        " cannot be captured: the shapes of its results depend on data, or are "
                        "known only after it has run; expected it outside the capture");
            return false;
        }
    } else if (!op_.inPlace.empty() && shapes_.Refuses(call.arguments, recording)) {
        return false;
    }
    const BelowAutograd below;
    Views views;
    auto queued = std::make_unique<Queued>(
        Queued{op_,
               OnHost(op_, call.arguments, &views, true),
               {},
               {},
               nullptr,
               op_.Has(Flag::kAddsInOrder) && deterministic ? 1 : call.threads,
               DenormalsOfCaller(),
               call.stream.handle(),
               {}});
    queued->written = WrittenView::Of(op_, queued->arguments);
    queued->promotion = Promotion::Of(op_, call.arguments, shapes.get());
    const std::vector<c10::IValue> results = Results(call, shapes.get(), &views, queued.get());
    if (op_.generator >= 0) {
        queued->generator = GeneratorOf(op_, call.arguments, call.device);
        queued->engine = EngineOf(queued->generator);
        queued->arguments[static_cast<size_t>(op_.generator)] = c10::IValue();
        queued->captured.draws = CapturedDrawsOf(call.stream.Model(), queued->generator);
        queued->captured.draw = queued->captured.draws->Record();
        drawsRecorded.fetch_add(1);
    }
    // Resizing an output queues torch_npu's copy of its old bytes, which comes first.
    Launch(op_.writes ? CurrentStream(call.device) : call.stream, std::move(queued), views,
           recording, recording && !settings.queueAlways);
    call.Return(results);
    return true;
}

bool HostKernel::CannotWait(const Call& call) const {
    return op_.generator >= 0 ||  // the offset of the generator is known after the draws
           op_.Has(Flag::kAlerts) || Promotion::MayWrite(op_, call.arguments);
}

bool HostKernel::NeedsShapes() const {
    return op_.anyFresh || op_.writes || !op_.onlyTensors || op_.dynamicShape;
}

bool HostKernel::Grows(c10::ArrayRef<c10::IValue> arguments) const {
    return op_.Has(Flag::kGrows) &&
           std::any_of(op_.inPlace.begin(), op_.inPlace.end(), [&](size_t index) {
               return arguments[index].isTensor() && arguments[index].toTensor().numel() == 0;
           });
}

std::vector<c10::IValue> HostKernel::Results(const Call& call,
                                             const std::vector<ResultShapes>* shapes, Views* views,
                                             Queued* queued) const {
    const auto make = [&](const TensorShape& shape) {
        if (!shape.defined) {
            return at::Tensor();
        }
        at::Tensor made = shape.New(call.device);
        queued->results.push_back(views->Of(made));
        return made;
    };
    std::vector<c10::IValue> results;
    for (size_t index = 0; index < op_.fresh.size(); ++index) {
        if (!op_.fresh[index]) {
            results.push_back(Aliased(index, call.arguments));
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
    return results;
}

c10::IValue HostKernel::Aliased(size_t index, c10::ArrayRef<c10::IValue> arguments) const {
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

uint64_t DrawsRecorded() { return drawsRecorded.load(); }

}  // namespace advstep_torch
