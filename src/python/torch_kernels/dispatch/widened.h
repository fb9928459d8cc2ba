// SPDX-License-Identifier: Apache-2.0
// Calls that torch's kernels for "cpu" refuse for their dtypes, and an NPU's do not.

#pragma once

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "torch_kernels/operators/operator_description.h"
#include "torch_kernels/shapes/without_data.h"

namespace advstep_torch {

/// The arguments of a call in wider types: half precision in float32, indices and labels of int32
/// in int64. On "npu" the casts are operators themselves, so they are queued and captured as the
/// call is; on "cpu" they are a part of the run of a queued operator.
class WideCall {
 public:
    /// Returns the wider form, or none if nothing can be widened: if floating point tensors have
    /// several dtypes, torch's own refusal is right.
    static std::optional<WideCall> Of(const Operator& op, c10::ArrayRef<c10::IValue> arguments);

    /// Calls the operator anew, and returns its results in the narrow types, or in the types given
    /// for them. Arguments that it writes are written.
    std::vector<c10::IValue> Run(const std::vector<at::ScalarType>& types) const;

    /// Returns the dtypes that the kernel for "meta", which may be Python, gives the results; none
    /// if it refuses the call.
    std::vector<at::ScalarType> ResultTypes() const;

 private:
    WideCall(const Operator& op, c10::ArrayRef<c10::IValue> arguments)
        : op_(op), given_(arguments) {}

    bool WidensAny() const;
    bool IsWidened(const at::Tensor& tensor, size_t index) const;
    at::Tensor Wide(const at::Tensor& tensor, size_t index) const;
    /// Gives a written argument the values of its wide form.
    static void Store(const c10::IValue& to, const c10::IValue& wide);

    const Operator& op_;
    c10::ArrayRef<c10::IValue> given_;
    at::ScalarType narrow_ = at::ScalarType::Undefined;  // of its floating point tensors, if half
};

/// Calls the operator in wider types after a refusal, which is thrown again if it is not for the
/// dtypes, or if no wider ones help. `types`: of the results; null: those of the kernel for "meta".
std::vector<c10::IValue> RunWide(const std::exception_ptr& refusal, const Operator& op,
                                 c10::ArrayRef<c10::IValue> arguments,
                                 const std::vector<at::ScalarType>* types = nullptr);

/// The dtypes with which an operator has been refused, and has run in wider types.
class Widened {
 public:
    /// Returns the wider form of a call whose dtypes are known to need it.
    std::optional<WideCall> Known(const Operator& op, c10::ArrayRef<c10::IValue> arguments) const;

    /// As RunWide. Notes the dtypes if wider ones have helped.
    std::vector<c10::IValue> RunAfter(const std::exception_ptr& refusal, const Operator& op,
                                      c10::ArrayRef<c10::IValue> arguments);

 private:
    std::atomic<bool> any_{false};  // spares most operators the look-up
    mutable std::mutex mutex_;      // guards the set; held for look-ups only
    std::unordered_set<std::string> known_;
};

}  // namespace advstep_torch
