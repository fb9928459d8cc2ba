// SPDX-License-Identifier: Apache-2.0
// The kernel of a reduction into memory, element by element.

#pragma once

#include <cstdint>

#include "op_kernel/common/kernel.h"

namespace advstep {

enum class ReduceKind : int32_t { kSum, kMax, kMin, kEqual };

enum class ReduceType : int32_t { kInt8, kInt16, kInt32, kFloat16, kBfloat16, kFloat };

/// The payload: tiling and addresses. Rows are elements.
struct ReducePayload {
    void* dst = nullptr;
    const void* src = nullptr;
    int64_t elements = 0;
    int64_t elementsPerCore = 0;
    ReduceKind kind = ReduceKind::kSum;
    ReduceType type = ReduceType::kInt8;
};

/// The fewest elements of a core, except the last one's. More cores would cost more than they save.
constexpr int64_t kLeastReduceElements = 1024;

/// dst[i] = dst[i] op src[i]. Sums of integers wrap; floats are summed in their precision with one
/// rounding to nearest even. A maximum or minimum with a NaN is NaN, and that of zeros with two
/// signs is +0 or -0. kEqual stores 1 where both are equal, else 0.
extern const KernelProgram kReduceProgram;

}  // namespace advstep
