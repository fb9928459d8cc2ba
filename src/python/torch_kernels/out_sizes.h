// SPDX-License-Identifier: Apache-2.0
// The sizes of out= arguments, which an operator may change.

#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "call.h"

namespace advstep_torch {

/// Gives the out= arguments of an operator the sizes that those on "meta" have now.
class OutSizes {
 public:
    explicit OutSizes(const Operator& op) : op_(op) {}

    /// Returns whether all could take them before the run. Else none has changed.
    bool Take(c10::ArrayRef<c10::IValue> arguments, const std::vector<c10::IValue>& meta) const {
        for (size_t index = 0; index < arguments.size(); ++index) {
            if (op_.handle.schema().arguments()[index].is_out() &&
                IsFixed(arguments, index, meta[index])) {
                return false;
            }
        }
        for (size_t index = 0; index < arguments.size(); ++index) {
            if (!op_.handle.schema().arguments()[index].is_out() || !arguments[index].isTensor() ||
                !meta[index].isTensor() || !meta[index].toTensor().defined()) {
                continue;
            }
            const at::Tensor npu = arguments[index].toTensor();
            const at::Tensor like = meta[index].toTensor();
            if (npu.sizes() != like.sizes()) {
                npu.resize_(like.sizes());
                npu.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides());
            }
        }
        return true;
    }

 private:
    /// Returns whether any other argument is the tensor. Kernels for "cpu" may refuse to resize it.
    static bool IsRead(c10::ArrayRef<c10::IValue> arguments, size_t out) {
        const auto same = [&](const c10::IValue& value) {
            return value.isTensor() && value.toTensor().unsafeGetTensorImpl() ==
                                           arguments[out].toTensor().unsafeGetTensorImpl();
        };
        for (size_t index = 0; index < arguments.size(); ++index) {
            const c10::IValue& value = arguments[index];
            if (index != out &&
                (same(value) || (value.isList() && std::any_of(value.toListRef().begin(),
                                                               value.toListRef().end(), same)))) {
                return true;
            }
        }
        return false;
    }

    /// Returns whether an out= argument has another shape on "meta" that it cannot take before the
    /// run.
    bool IsFixed(c10::ArrayRef<c10::IValue> arguments, size_t out, const c10::IValue& meta) const {
        if (meta.isTensorList()) {
            const std::vector<at::Tensor> npus = arguments[out].toTensorVector();
            const std::vector<at::Tensor> likes = meta.toTensorVector();
            return !std::equal(npus.begin(), npus.end(), likes.begin(), likes.end(),
                               [](const at::Tensor& npu, const at::Tensor& like) {
                                   return npu.sizes() == like.sizes();
                               });
        }
        return meta.isTensor() && meta.toTensor().defined() &&
               arguments[out].toTensor().sizes() != meta.toTensor().sizes() &&
               (op_.factors || IsRead(arguments, out));
    }

    const Operator& op_;
};

}  // namespace advstep_torch
