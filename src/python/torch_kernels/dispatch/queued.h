// SPDX-License-Identifier: Apache-2.0
// Operators in a stream: their arguments, their run and their release.

#pragma once

#include <ATen/ATen.h>
#include <ATen/core/stack.h>

#include <memory>
#include <vector>

#include "torch_kernels/device/generators.h"
#include "torch_kernels/device/views.h"
#include "torch_kernels/dispatch/backlog.h"
#include "torch_kernels/dispatch/promotion.h"
#include "torch_kernels/operators/operator_description.h"

namespace advstep_torch {

/// A view that an operator writes in place.
struct WrittenView {
    at::Tensor view;
    const void* memory;
    std::vector<int64_t> sizes;

    static std::vector<WrittenView> Of(const Operator& op,
                                       const std::vector<c10::IValue>& arguments);

    /// Raises an error if the operator has given the view another shape or memory, which its "npu"
    /// tensor cannot take any more.
    void Check() const;
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
    std::vector<WrittenView> written;  // in place, as it was when the operator was queued
    Promotion promotion = {};
    CapturedDraw captured = {};
    Backlog* backlog = nullptr;  // of the stream; null: a model keeps the operator

    void Run() const;

 private:
    /// Returns the arguments of a run. `drawing`: whether the engine draws for it.
    torch::jit::Stack Arguments(bool drawing) const;
    void RunInPlace(torch::jit::Stack* stack) const;
    /// Returns the dtypes of the results; none if they are not one tensor each.
    std::vector<at::ScalarType> ResultTypes() const;
    /// Takes the results of a run that were no views.
    void StoreAll(const torch::jit::Stack& stack) const;
    void Store(const at::Tensor& result, size_t* next) const;
};

/// Queues the operator, or raises the failure of the runtime. If the stream has many, it waits for
/// room first.
/// @param recording   whether a capture takes the operator
/// @param mayBeShort  whether the operator may start later, when a thread waits for the stream
void Launch(const CurrentStream& stream, std::unique_ptr<Queued> queued, const Views& views,
            bool recording, bool mayBeShort);

}  // namespace advstep_torch
