// SPDX-License-Identifier: Apache-2.0
// The payload and the kernels of Add.

#pragma once

#include <cstdint>

#include "advance_step/operator.h"

namespace own {

inline constexpr int kMostAxes = 8;

// [payload]
/// The work of one call, which the host side writes and every core reads.
struct AddTiling {
    int64_t elements;                 // of out
    int64_t rowsPerCore;              // elements of out; the last core may have fewer
    int64_t rank;                     // axes of out
    int64_t dims[kMostAxes];          // of out
    int64_t selfStrides[kMostAxes];   // elements; 0 along an axis that self repeats
    int64_t otherStrides[kMostAxes];  // the same of other
    double floatAlpha;                // the value for ACL_FLOAT
    int64_t wholeAlpha;               // the value for integers
};

struct AddPayload {
    AddTiling tiling;
    const void* self;
    const void* other;
    void* out;
};
// [/payload]

/// The kernel for a dtype of aclnn_add.h: one phase, in which each core writes its elements.
advance_step::op::KernelFn AddKernelFor(aclDataType dataType);

}  // namespace own
