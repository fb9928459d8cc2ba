// SPDX-License-Identifier: Apache-2.0
// The values on which the shapes of an operator's results depend: its arguments without the data of
// tensors.

#pragma once

#include <ATen/core/ivalue.h>

#include <optional>
#include <string>

namespace advstep_torch {

/// Whether floating point numbers count in a signature: optimizers have others in each step.
enum class Numbers { kByValue, kByKind };

/// Returns the arguments as one string, or none if the shapes may depend on the data of an
/// argument. Two calls with the same one have results of the same shapes. `pointwise`: they do not
/// depend on numbers in tensors of "cpu".
std::optional<std::string> SignatureOf(c10::ArrayRef<c10::IValue> arguments, bool pointwise,
                                       Numbers numbers);

}  // namespace advstep_torch
