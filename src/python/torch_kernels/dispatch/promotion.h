// SPDX-License-Identifier: Apache-2.0
// Integers that an operator computes in torch's default dtype. That is one for the process, so a
// queued operator takes the one of its call along.

#pragma once

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <vector>

#include "torch_kernels/operators/operator_description.h"
#include "torch_kernels/shapes/tensor_shape.h"

namespace advstep_torch {

class Promotion {
 public:
    /// Returns the promotion that a call demands. `shapes`: of the fresh results; null if there are
    /// none.
    static Promotion Of(const Operator& op, c10::ArrayRef<c10::IValue> arguments,
                        const std::vector<ResultShapes>* shapes);

    /// Returns whether an operator with an out= argument computes integers in the default dtype.
    static bool MayWrite(const Operator& op, c10::ArrayRef<c10::IValue> arguments);

    /// Casts the integers among arguments on "cpu", as torch's kernel would.
    void Cast(const Operator& op, std::vector<c10::IValue>* arguments) const;

 private:
    bool Wanted(size_t index) const { return index < wanted_.size() && wanted_[index]; }
    at::Tensor Real(const at::Tensor& tensor) const;

    std::vector<bool> wanted_;  // of the tensors of lists, else one; empty: nothing is cast
    at::ScalarType dtype_ = at::ScalarType::Undefined;
};

}  // namespace advstep_torch
