// SPDX-License-Identifier: Apache-2.0
// The calls that a kernel for "cpu" may refuse where that for "meta" does not: for their dtypes, or
// because what they write overlaps what they read.

#pragma once

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

#include <string>

#include "torch_kernels/operators/operator_description.h"

namespace advstep_torch {

/// The dtypes of a call's tensors, and whether a trial on "cpu" of the call is wanted.
class Dtypes {
 public:
    Dtypes(const Operator& op, c10::ArrayRef<c10::IValue> arguments);

    const std::string& Key() const { return key_; }

    /// `results`: their bytes.
    bool WantsTrial(size_t results) const;

    /// Returns whether an error of a kernel speaks of dtypes; others may be of the trial's data.
    static bool AreMeantBy(const std::string& message);

 private:
    void Add(const at::Tensor& tensor);

    std::string key_;
    at::ScalarType first_ = at::ScalarType::Undefined;
    size_t bytes_ = 0;
    bool empty_ = false;
    bool integers_ = false;
    bool unusual_ = false;
    bool mixed_ = false;
    bool wanted_ = false;
};

/// Returns whether an argument that is written overlaps itself or a part of another one. Kernels of
/// operators that work element by element refuse that, which is thrown while recording.
bool Overlaps(const Operator& op, c10::ArrayRef<c10::IValue> arguments, bool recording);

}  // namespace advstep_torch
