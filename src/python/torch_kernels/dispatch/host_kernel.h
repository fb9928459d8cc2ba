// SPDX-License-Identifier: Apache-2.0
// The kernels of "npu" operators: they run torch's kernels for "cpu", at once or in stream order.

#pragma once

#include <ATen/core/stack.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "torch_kernels/device/views.h"
#include "torch_kernels/dispatch/queued.h"
#include "torch_kernels/dispatch/widened.h"
#include "torch_kernels/operators/operator_description.h"
#include "torch_kernels/shapes/result_shapes.h"

namespace advstep_torch {

class HostKernel : public c10::OperatorKernel {
 public:
    explicit HostKernel(const Operator& op) : op_(op), shapes_(op) {}

    void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack);

 private:
    /// One call on "npu": where and how it runs.
    struct Call {
        c10::ArrayRef<c10::IValue> arguments;
        c10::Device device;
        const CurrentStream& stream;
        int threads;
        torch::jit::Stack* stack;  // which ends with the arguments

        /// Puts the results in the place of the arguments.
        void Return(const std::vector<c10::IValue>& results) const;
    };

    void CallHost(std::vector<c10::IValue> arguments, torch::jit::Stack* stack);

    /// Runs the call in the stream's state, as torch's kernel for "cpu" takes it.
    void Run(const Call& call, StreamState state);

    void RunAtOnce(const Call& call);

    /// Runs an operator that writes large results into their own memory, because copying them costs
    /// more than finding their shapes first. Returns false if the operator has no such form, or its
    /// arguments are small: it has not run then.
    bool RunInPlace(const Call& call);

    /// Returns false if the operator cannot be queued.
    bool Queue(const Call& call, bool recording);

    /// Returns whether a call has to run at once: it draws random numbers, or what torch has once
    /// for the process has to be that of the call.
    bool CannotWait(const Call& call) const;

    /// Returns whether the shapes of results are needed before the run.
    bool NeedsShapes() const;

    /// Returns whether the operator resizes an argument, which queued work cannot do.
    bool Grows(c10::ArrayRef<c10::IValue> arguments) const;

    /// Returns the results of a queued operator: new tensors, whose views it gets, and arguments.
    std::vector<c10::IValue> Results(const Call& call, const std::vector<ResultShapes>* shapes,
                                     Views* views, Queued* queued) const;

    /// Puts the results of a call in wider types in the place of the arguments.
    void ReturnOfWide(const Call& call, std::vector<c10::IValue> results) const;

    /// Returns the argument that a return stands for: the one with the same alias set.
    c10::IValue Aliased(size_t index, c10::ArrayRef<c10::IValue> arguments) const;

    const Operator& op_;
    Shapes shapes_;
    Widened widened_;
};

/// Returns the number of operators that draw random numbers in replays, recorded until now.
uint64_t DrawsRecorded();

}  // namespace advstep_torch
