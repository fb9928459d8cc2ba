// SPDX-License-Identifier: Apache-2.0
// Implements the tasks that tell the sanitizer what has run at once.

#include "torch_kernels/dispatch/run_mark.h"

#include <algorithm>

#include "torch_kernels/operators/call_arguments.h"

namespace advstep_torch {
namespace {

// Returns whether an argument is the tensor, or a list with it.
bool Holds(const c10::IValue& argument, const at::Tensor& tensor) {
    if (argument.isTensorList()) {
        const std::vector<at::Tensor> tensors = argument.toTensorVector();
        return std::any_of(tensors.begin(), tensors.end(),
                           [&](const at::Tensor& each) { return each.is_same(tensor); });
    }
    return argument.isTensor() && argument.toTensor().is_same(tensor);
}

template <typename Visit>
void ForEachNpu(c10::ArrayRef<c10::IValue> values, Visit&& visit) {
    for (const c10::IValue& value : values) {
        if (value.isTensor() && IsNpu(value.toTensor())) {
            visit(value.toTensor());
        } else if (value.isTensorList()) {
            for (const at::Tensor& tensor : value.toTensorVector()) {
                if (IsNpu(tensor)) {
                    visit(tensor);
                }
            }
        }
    }
}

}  // namespace

uint64_t UseOf(const Operator& op, c10::ArrayRef<c10::IValue> arguments, const at::Tensor& view) {
    uint64_t use = 0;
    const std::vector<c10::Argument>& declared = op.handle.schema().arguments();
    for (size_t index = 0; index < std::min(declared.size(), arguments.size()); ++index) {
        if (Holds(arguments[index], view)) {
            use |= IsWritten(declared[index]) ? ADVSTEP_RANGE_WRITTEN : 0;
            use |= declared[index].is_out() ? 0 : ADVSTEP_RANGE_READ;
        }
    }
    return use != 0 ? use : ADVSTEP_RANGE_READ;
}

RunMark::RunMark(const Operator& op, const Views& views, c10::ArrayRef<c10::IValue> host)
    : name_(op.name.c_str()) {
    if (settings.tellsRuns) {
        ranges_ = views.Ranges([&](const at::Tensor& view) { return UseOf(op, host, view); });
    }
}

void RunMark::Add(const at::Tensor& npu, uint64_t use) {
    if (!settings.tellsRuns || !IsNpu(npu) || npu.layout() != c10::kStrided) {
        return;
    }
    Views views;
    (void)views.Of(npu);
    const std::vector<AdvStepMemoryRange> ranges =
        views.Ranges([&](const at::Tensor&) { return use; });
    ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
}

void RunMark::AddResults(c10::ArrayRef<c10::IValue> arguments,
                         const std::vector<c10::IValue>& results) {
    if (!settings.tellsRuns) {
        return;
    }
    ForEachNpu(results, [&](const at::Tensor& result) {
        bool ofArgument = result.layout() != c10::kStrided;
        ForEachNpu(arguments, [&](const at::Tensor& argument) {
            ofArgument =
                ofArgument || argument.layout() != c10::kStrided || argument.is_alias_of(result);
        });
        if (!ofArgument) {
            Add(result, ADVSTEP_RANGE_WRITTEN);
        }
    });
}

void RunMark::Queue(const CurrentStream& stream) const {
    if (!ranges_.empty()) {
        stream.QueueMark(name_, ranges_);
    }
}

}  // namespace advstep_torch
