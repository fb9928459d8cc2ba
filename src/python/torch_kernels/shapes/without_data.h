// SPDX-License-Identifier: Apache-2.0
// An operator's kernels for "meta" and "cpu", called without the data of its arguments.

#pragma once

#include <ATen/core/ivalue.h>

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "torch_kernels/operators/operator_description.h"

namespace advstep_torch {

/// Takes the warnings of kernels in its scope.
class NoWarnings : public c10::WarningHandler {
 public:
    NoWarnings() : guard_(this) {}
    void process(const c10::Warning&) override {}

 private:
    const c10::WarningUtils::WarningHandlerGuard guard_;
};

/// Returns whether the kernels for "cpu" and "meta" disagree about a call with these arguments, so
/// that a trial on "cpu" has to tell its results. Operators that work element by element are among
/// them: "meta" computes those of 16 bits in float32, and forgets the strides of an expanded
/// argument then.
bool NeedsTrial(const Operator& op, c10::ArrayRef<c10::IValue> arguments);

/// Calls without data. It keeps nothing, so any thread may call it.
class WithoutData {
 public:
    explicit WithoutData(const Operator& op) : op_(op) {}

    /// The results of the kernel for "meta", and the arguments that it may have resized. False: it
    /// has none, or refuses the arguments; the reason is in `refused`.
    bool Call(c10::ArrayRef<c10::IValue> arguments, std::vector<c10::IValue>* given,
              std::vector<c10::IValue>* results, std::exception_ptr* refused) const;

    /// The same of the kernel for a device, "meta" or "cpu".
    bool CallOn(c10::Device device, c10::ArrayRef<c10::IValue> arguments,
                std::vector<c10::IValue>* given, std::vector<c10::IValue>* results,
                std::exception_ptr* refused) const;

    /// Throws an exception that the kernel for "meta" does not throw again: a handler of a signal,
    /// such as Ctrl-C, raised it in the middle of the kernel's Python.
    void ThrowIfNotItsOwn(c10::ArrayRef<c10::IValue> arguments,
                          const std::exception_ptr& first) const;

    /// The message of an exception. `ofC`: none if Python may have raised it.
    static std::optional<std::string> MessageOf(const std::exception_ptr& thrown, bool ofC);

    /// Throws what the kernel for "cpu" throws in the deterministic mode, and warns as it does.
    void ThrowIfNotDeterministic(c10::ArrayRef<c10::IValue> arguments) const;

 private:
    /// Returns the arguments on "meta", or on "cpu" for a trial: ones, by which integers can be
    /// divided, or zeros, which are right as indices.
    std::vector<c10::IValue> Without(c10::ArrayRef<c10::IValue> arguments,
                                     c10::Device device) const;

    const Operator& op_;
};

}  // namespace advstep_torch
