// SPDX-License-Identifier: Apache-2.0
// Chooses the kernels with which the extension takes over torch's operators.

#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace advstep_torch {

/// Registers the operators of torch for "npu", except those with the names in `kept`. Returns their
/// number.
size_t RegisterOperators(const std::set<std::string>& kept);

}  // namespace advstep_torch
