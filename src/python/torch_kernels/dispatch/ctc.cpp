// SPDX-License-Identifier: Apache-2.0
// Checks the targets of CTC losses row by row.

#include "torch_kernels/dispatch/ctc.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

namespace advstep_torch {

void CheckCtcTargets(const c10::FunctionSchema& schema, c10::ArrayRef<c10::IValue> arguments) {
    const auto named = [&](const char* name) -> const c10::IValue& {
        return arguments[static_cast<size_t>(schema.argumentIndexWithName(name).value())];
    };
    const at::Tensor& chances = named("log_probs").toTensor();
    const at::Tensor& given = named("targets").toTensor();
    if (chances.dim() != 3 || given.dim() < 1 || given.dim() > 2) {
        return;
    }
    const auto whole = [](const at::Tensor& tensor) {
        return tensor.to(at::kCPU, at::kLong).contiguous();
    };
    const c10::IValue& lengths = named("target_lengths");
    const std::vector<int64_t> counts =
        lengths.isTensor() ? at::IntArrayRef(whole(lengths.toTensor()).const_data_ptr<int64_t>(),
                                             static_cast<size_t>(lengths.toTensor().numel()))
                                 .vec()
                           : lengths.toIntVector();
    const at::Tensor targets = whole(given);
    const int64_t* const target = targets.const_data_ptr<int64_t>();
    const bool padded = targets.dim() == 2;
    int64_t begin = 0;
    for (size_t row = 0; row < counts.size(); ++row) {
        // A row of padded targets has a place of its own; otherwise it follows the one before.
        begin = padded ? static_cast<int64_t>(row) * targets.size(1) : begin;
        const int64_t room =
            padded ? std::min(targets.size(1), targets.numel() - begin) : targets.numel() - begin;
        const int64_t count = std::min(counts[row], room);
        for (int64_t index = 0; index < count; ++index) {
            TORCH_CHECK_INDEX(target[begin + index] >= 0 && target[begin + index] < chances.size(2),
                              "targets of ", schema.name(), ": row ", row, ", target ", index,
                              " is ", target[begin + index], "; expected 0 <= target < ",
                              chances.size(2), ", the number of classes");
        }
        begin += std::max<int64_t>(count, 0);
    }
}

}  // namespace advstep_torch
