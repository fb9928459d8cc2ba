// SPDX-License-Identifier: Apache-2.0
// Operators in a stream: their arguments, their run and their release.

#pragma once

#include <ATen/autocast_mode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <utility>

#include "backlog.h"
#include "call.h"
#include "denormals.h"
#include "promotion.h"
#include "threads.h"
#include "turn.h"

namespace advstep_torch {

inline std::atomic<uint64_t> drawsRecorded{0};  // operators that draw in replays

/// Runs kernels below autograd and autocast, which have done their part for the "npu" tensors.
struct BelowAutograd {
    at::AutoDispatchBelowADInplaceOrView autograd;
    c10::impl::ExcludeDispatchKeyGuard autocast{c10::autocast_dispatch_keyset};
};

/// The state of torch in which a queued operator runs. It may run in any thread that waits for the
/// stream, which may be within a mode of Python's or use another number of threads. So the state of
/// the thread is restored afterwards. State that torch has once for the process stays as it is.
struct RunScope {
    RunScope(int wanted, unsigned flush) : threads(wanted), denormals(flush) {}

    const c10::impl::ForceDispatchKeyGuard keys{
        c10::default_included_set, c10::default_excluded_set |
                                       c10::autograd_dispatch_keyset_with_ADInplaceOrView |
                                       c10::autocast_dispatch_keyset};
    const ThreadsScope threads;
    const DenormalsScope denormals;
};

/// A view that an operator writes in place.
struct Written {
    at::Tensor view;
    const void* memory;
    std::vector<int64_t> sizes;

    static std::vector<Written> Of(const Operator& op, const std::vector<c10::IValue>& arguments) {
        std::vector<Written> written;
        for (const size_t index : op.inPlace) {
            if (arguments[index].isTensor() && arguments[index].toTensor().defined()) {
                const at::Tensor view = arguments[index].toTensor();
                written.push_back({view, view.storage().data(), view.sizes().vec()});
            }
        }
        return written;
    }

    /// Raises an error if the operator has given the view another shape or memory, which its "npu"
    /// tensor cannot take any more.
    void Check() const {
        TORCH_CHECK(view.sizes() == sizes && view.storage().data() == memory,
                    "an argument that is written in place has the shape ", view.sizes(),
                    "; expected ", c10::IntArrayRef(sizes), ", as before");
    }
};

/// An operator in a stream. It refers to no Python object and no "npu" tensor: its run and its end
/// need neither the interpreter's lock nor that of an allocator of the device, which torch_npu
/// holds while it waits for the device.
struct Queued {
    const Operator& op;
    std::vector<c10::IValue> arguments;
    std::vector<at::Tensor> results;  // views of the fresh ones, in order
    at::Generator generator;          // of the device; undefined: nothing is drawn
    std::shared_ptr<Engine> engine;
    int threads;
    unsigned denormals;  // as in DenormalsScope
    const void* stream;
    std::vector<Written> written;  // in place, as it was when the operator was queued
    Promotion promotion = {};
    Backlog* backlog = nullptr;  // of the stream; null: a model keeps the operator

    void Run() const {
        const RunScope scope(threads, denormals);
        std::optional<Drawing> drawing;
        torch::jit::Stack stack = arguments;
        if (engine != nullptr && !op.out) {
            drawing.emplace(generator, engine);
            stack[static_cast<size_t>(op.generator)] = engine->cpu;
        }
        const Turn turn(stream);
        promotion.Cast(op, &stack);
        if (op.out) {
            RunInPlace(&stack);
            return;
        }
        op.handle.callBoxed(stack);
        for (const Written& place : written) {
            place.Check();
        }
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

 private:
    void RunInPlace(torch::jit::Stack* stack) const {
        // The operator gets views of its own, so that Expect finds a form that resizes them.
        for (const at::Tensor& place : results) {
            stack->emplace_back(place.alias());
        }
        op.out->callBoxed(*stack);
        for (size_t index = 0; index < results.size(); ++index) {
            Expect(results[index], (*stack)[index].toTensor());
        }
    }

    static void Expect(const at::Tensor& place, const at::Tensor& result) {
        TORCH_CHECK(place.sizes() == result.sizes() && place.dtype() == result.dtype(),
                    "the result is ", result.dtype(), result.sizes(), "; expected ", place.dtype(),
                    place.sizes());
    }

    void Store(const at::Tensor& result, size_t* next) const {
        if (!result.defined()) {
            return;
        }
        const at::Tensor& place = results.at((*next)++);
        Expect(place, result);
        place.copy_(result);
    }
};

constexpr int kFailed = 507018;  // the runtime's code for a kernel that runs on a host

inline int32_t RunQueued(void* args, char* message, size_t size) {
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

inline void ReleaseQueued(void* args) {
    const std::unique_ptr<Queued> queued(static_cast<Queued*>(args));
    if (queued->backlog != nullptr) {
        queued->backlog->Left();
    }
}

/// Queues the operator, or raises the failure of the runtime. If the stream has many, it waits for
/// room first.
/// @param recording   whether a capture takes the operator
/// @param mayBeShort  whether the operator may start later, when a thread waits for the stream
inline void Launch(const CurrentStream& stream, std::unique_ptr<Queued> queued, const Views& views,
                   bool recording, bool mayBeShort) {
    constexpr size_t kShort = 32 * 1024;  // bytes; a few us, which waking a thread costs as well
    if (!recording) {
        queued->backlog = &Backlog::Of(stream.handle());
        if (!Turn::Has()) {  // the stream could not go on
            queued->backlog->WaitForRoom();
        }
        queued->backlog->Entered();
    }
    const std::vector<AdvStepMemoryRange> ranges = views.Ranges();
    const char* const name = queued->op.name.c_str();
    const AdvStepHostOperator operation{
        name, &RunQueued, &ReleaseQueued, queued.release(), ranges.data(), ranges.size()};
    const auto launch =
        mayBeShort && views.Bytes() <= kShort ? runtime.launchShort : runtime.launch;
    Check(launch(stream.handle(), &operation), name);
}

}  // namespace advstep_torch
