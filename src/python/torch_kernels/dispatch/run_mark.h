// SPDX-License-Identifier: Apache-2.0
// Tasks of streams that tell the sanitizer what has run at once.

#pragma once

#include <ATen/ATen.h>

#include <string>
#include <vector>

#include "torch_kernels/device/current_stream.h"
#include "torch_kernels/device/views.h"
#include "torch_kernels/operators/operator_description.h"

namespace advstep_torch {

/// Returns how an operator uses the memory of a view: ADVSTEP_RANGE_READ, ADVSTEP_RANGE_WRITTEN or
/// both. An out= argument is only written.
uint64_t UseOf(const Operator& op, c10::ArrayRef<c10::IValue> arguments, const at::Tensor& view);

/// The mark of an operator that runs at once, on the memory of tensors and not in a stream. Without
/// the sanitizer it does nothing.
class RunMark {
 public:
    /// Takes the uses of the arguments, which the run replaces. `name` lives as long as the
    /// process.
    RunMark(const Operator& op, const Views& views, c10::ArrayRef<c10::IValue> host);
    explicit RunMark(const std::string& name) : name_(name.c_str()) {}

    /// Adds a use of an "npu" tensor.
    void Add(const at::Tensor& npu, uint64_t use);

    /// Adds the results that have memory of their own.
    void AddResults(c10::ArrayRef<c10::IValue> arguments, const std::vector<c10::IValue>& results);

    /// Queues a task that does nothing and has these uses, behind the run.
    void Queue(const CurrentStream& stream) const;

 private:
    const char* name_;
    std::vector<AdvStepMemoryRange> ranges_;
};

}  // namespace advstep_torch
