// SPDX-License-Identifier: Apache-2.0
// Looks at dtypes and at overlaps of memory.

#include "torch_kernels/shapes/refusals.h"

#include <ATen/MemoryOverlap.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "torch_kernels/device/views.h"

namespace advstep_torch {

Dtypes::Dtypes(const Operator& op, c10::ArrayRef<c10::IValue> arguments) {
    for (size_t index = 0; index < arguments.size(); ++index) {
        const c10::IValue& value = arguments[index];
        if (value.isTensor()) {
            Add(value.toTensor());
        } else if (value.isList()) {
            key_ += '[';
            for (const c10::IValue& element : value.toListRef()) {
                if (element.isTensor()) {
                    Add(element.toTensor());
                }
            }
        } else if (value.isInt() && op.handle.schema().arguments()[index].real_type()->kind() ==
                                        c10::TypeKind::ScalarTypeType) {
            key_ += std::to_string(value.toInt()) + ';';
        } else if (value.isString()) {
            key_ +=
                value.toStringRef() + ';';  // such as the reduction, which may take fewer dtypes
        } else {
            key_ += value.isNone() ? 'n' : value.isDouble() ? 'd' : 'v';
        }
    }
    if (empty_) {
        key_ += 'e';  // what kernels say of no elements tells nothing of others
    }
    const bool refused = op.Has(Flag::kIndexesByTargets) || op.Has(Flag::kNoTrialOfDtypes) ||
                         (op.Has(Flag::kMatrices) && integers_ && mixed_);
    wanted_ = !refused && (mixed_ || unusual_ || op.Has(Flag::kTrialOfDtypes));
}

bool Dtypes::WantsTrial(size_t results) const {
    constexpr size_t kMost = size_t{4} << 20;  // bytes: the trial computes with as many
    return wanted_ && bytes_ <= kMost && results <= kMost;
}

bool Dtypes::AreMeantBy(const std::string& message) {
    std::string lower(message);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char letter) { return std::tolower(letter); });
    return lower.find("type") != std::string::npos ||
           lower.find("not implemented for") != std::string::npos;
}

void Dtypes::Add(const at::Tensor& tensor) {
    if (!tensor.defined()) {
        key_ += 'u';
        return;
    }
    const at::ScalarType dtype = tensor.scalar_type();
    const bool number = tensor.unsafeGetTensorImpl()->is_wrapped_number();
    key_ += static_cast<char>('A' + static_cast<int>(dtype));
    key_ += number ? 'w' : tensor.dim() == 0 ? '0' : 't';
    if (number || !IsNpu(tensor)) {
        return;
    }
    bytes_ += tensor.nbytes();
    empty_ = empty_ || tensor.numel() == 0;
    integers_ = integers_ || c10::isIntegralType(dtype, /*includeBool=*/true);
    unusual_ = unusual_ || (dtype != at::kFloat && dtype != at::kDouble);
    mixed_ = mixed_ || (first_ != at::ScalarType::Undefined && first_ != dtype);
    first_ = dtype;
}

bool Overlaps(const Operator& op, c10::ArrayRef<c10::IValue> arguments, bool recording) {
    const std::vector<c10::Argument>& described = op.handle.schema().arguments();
    for (size_t index = 0; index < arguments.size(); ++index) {
        if (!IsWritten(described[index]) || !arguments[index].isTensor() ||
            !IsNpu(arguments[index].toTensor())) {
            continue;
        }
        const at::Tensor& written = arguments[index].toTensor();
        const bool throws = recording && op.pointwise;
        if (described[index].is_out() && at::has_internal_overlap(written) == at::MemOverlap::Yes) {
            if (throws) {
                at::assert_no_internal_overlap(written);
            }
            return true;
        }
        for (const c10::IValue& value : arguments) {
            if (!value.isTensor() || !IsNpu(value.toTensor()) ||
                at::get_overlap_status(written, value.toTensor()) !=
                    at::MemOverlapStatus::Partial) {
                continue;
            }
            if (throws) {
                at::assert_no_partial_overlap(written, value.toTensor());
            }
            return true;
        }
    }
    return false;
}

}  // namespace advstep_torch
