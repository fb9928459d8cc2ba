// SPDX-License-Identifier: Apache-2.0
// Reductions of two lists of elements.

#pragma once

#include <cstdint>

#include "hccl/hccl_types.h"

namespace advstep::hccl {

/// sum[i] = sum[i] op addend[i], rounded to the type. The lists need no alignment and do not
/// overlap. Whole numbers wrap around. MAX and MIN of a NaN and a number are NaN; of two zeros the
/// first. The type is one that CheckType lets reduce.
void Reduce(HcclDataType type, HcclReduceOp op, void* sum, const void* addend, uint64_t count);

}  // namespace advstep::hccl
