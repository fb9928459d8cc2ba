// SPDX-License-Identifier: Apache-2.0
// Runs queued operators, and hands them to the runtime.

#include "torch_kernels/dispatch/queued.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <utility>

#include "torch_kernels/device/thread_state.h"
#include "torch_kernels/dispatch/host_call.h"
#include "torch_kernels/dispatch/run_mark.h"
#include "torch_kernels/dispatch/stream_lock.h"
#include "torch_kernels/dispatch/widened.h"

namespace advstep_torch {
namespace {

void Expect(const at::Tensor& place, const at::Tensor& result) {
    TORCH_CHECK(place.sizes() == result.sizes() && place.dtype() == result.dtype(),
                "the result is ", result.dtype(), result.sizes(), "; expected ", place.dtype(),
                place.sizes());
}

constexpr int kFailed = 507018;  // the runtime's code for a kernel that runs on a host

int32_t RunQueued(void* args, char* message, size_t size) {
    try {
        static_cast<const Queued*>(args)->Run();
        return 0;
    } catch (const c10::Error& error) {
        (void)std::snprintf(message, size, "%s", error.what_without_backtrace());
    } catch (const std::exception& error) {
        (void)std::snprintf(message, size, "%s", error.what());
    }
    return kFailed;
}

void ReleaseQueued(void* args) {
    const std::unique_ptr<Queued> queued(static_cast<Queued*>(args));
    if (queued->backlog != nullptr) {
        queued->backlog->Left();
    }
}

}  // namespace

std::vector<WrittenView> WrittenView::Of(const Operator& op,
                                         const std::vector<c10::IValue>& arguments) {
    std::vector<WrittenView> written;
    for (const size_t index : op.inPlace) {
        if (arguments[index].isTensor() && arguments[index].toTensor().defined()) {
            const at::Tensor view = arguments[index].toTensor();
            written.push_back({view, view.storage().data(), view.sizes().vec()});
        }
    }
    return written;
}

void WrittenView::Check() const {
    TORCH_CHECK(view.sizes() == sizes && view.storage().data() == memory,
                "an argument that is written in place has the shape ", view.sizes(), "; expected ",
                c10::IntArrayRef(sizes), ", as before");
}

void Queued::Run() const {
    const QueuedScope scope(threads, denormals);
    std::optional<Drawing> drawing;
    if (engine != nullptr && !op.out) {
        drawing.emplace(generator, engine, captured);
    }
    const StreamLock lock(stream);
    torch::jit::Stack stack = Arguments(drawing.has_value());
    std::exception_ptr refusal;
    try {
        if (op.out) {
            RunInPlace(&stack);
            return;
        }
        CallOnHost(op, &stack);
    } catch (const std::exception&) {
        refusal = std::current_exception();
    }
    if (refusal != nullptr) {  // by a kernel that no trial has tried with such dtypes
        const std::vector<at::ScalarType> types = ResultTypes();
        stack = RunWide(refusal, op, Arguments(drawing.has_value()), &types);
    }
    for (const WrittenView& place : written) {
        place.Check();
    }
    StoreAll(stack);
}

torch::jit::Stack Queued::Arguments(bool drawing) const {
    torch::jit::Stack stack = arguments;
    if (drawing) {
        stack[static_cast<size_t>(op.generator)] = engine->cpu;
    }
    promotion.Cast(op, &stack);
    return stack;
}

std::vector<at::ScalarType> Queued::ResultTypes() const {
    std::vector<at::ScalarType> types;
    size_t next = 0;
    for (const bool fresh : op.fresh) {
        if (fresh && next == results.size()) {
            return {};
        }
        types.push_back(fresh ? results[next++].scalar_type() : at::ScalarType::Undefined);
    }
    return next == results.size() ? types : std::vector<at::ScalarType>();
}

void Queued::StoreAll(const torch::jit::Stack& stack) const {
    size_t next = 0;
    for (size_t index = 0; index < stack.size(); ++index) {
        if (!op.fresh[index]) {
            continue;
        }
        if (stack[index].isTensor()) {
            Store(stack[index].toTensor(), &next);
        } else {
            for (const at::Tensor& tensor : stack[index].toTensorVector()) {
                Store(tensor, &next);
            }
        }
    }
}

void Queued::RunInPlace(torch::jit::Stack* stack) const {
    // The operator gets views of its own, so that Expect finds a form that resizes them.
    for (const at::Tensor& place : results) {
        stack->emplace_back(place.alias());
    }
    op.out->callBoxed(*stack);
    for (size_t index = 0; index < results.size(); ++index) {
        Expect(results[index], (*stack)[index].toTensor());
    }
}

void Queued::Store(const at::Tensor& result, size_t* next) const {
    if (!result.defined()) {
        return;
    }
    const at::Tensor& place = results.at((*next)++);
    Expect(place, result);
    place.copy_(result);
}

namespace {

// Returns how the operator uses the memory of a view.
uint64_t UseOfView(const Queued& queued, const at::Tensor& view) {
    const bool isResult =
        std::any_of(queued.results.begin(), queued.results.end(),
                    [&](const at::Tensor& result) { return result.is_same(view); });
    return isResult ? ADVSTEP_RANGE_WRITTEN : UseOf(queued.op, queued.arguments, view);
}

}  // namespace

void Launch(const CurrentStream& stream, std::unique_ptr<Queued> queued, const Views& views,
            bool recording, bool mayBeShort) {
    constexpr size_t kShort = 32 * 1024;  // bytes; a few us, which waking a thread costs as well
    if (!recording) {
        queued->backlog = &Backlog::Of(stream.handle());
        if (!StreamLock::Held()) {  // the stream could not go on
            queued->backlog->WaitForRoom();
        }
        queued->backlog->Entered();
    }
    const std::vector<AdvStepMemoryRange> ranges =
        views.Ranges([&](const at::Tensor& view) { return UseOfView(*queued, view); });
    const char* const name = queued->op.name.c_str();
    const AdvStepHostOperator operation{
        name, &RunQueued, &ReleaseQueued, queued.release(), ranges.data(), ranges.size()};
    const auto launch =
        mayBeShort && views.Bytes() <= kShort ? runtime.launchShort : runtime.launch;
    Check(launch(stream.handle(), &operation), name);
}

}  // namespace advstep_torch
