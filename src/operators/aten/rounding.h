// SPDX-License-Identifier: Apache-2.0
// From float32 to whole numbers of few bits: rounded half to even, and saturated.

#pragma once

#include "src/operators/aten/named.h"

namespace advstep_operators {

/// The whole numbers that an output takes.
struct Steps {
    int64_t least = -128;
    int64_t most = 127;
    bool inWords = false;  // eight INT4 in each INT32, the first one in the lowest bits
};

/// Returns the steps of an output by its dtype: INT8, UINT8, INT4, or INT32 for INT4 in words.
/// Other dtypes are refused, and so is a dstType (ACL_INT8 and so on) that is not the output's. -1
/// stands for a function without a dstType.
Steps StepsOf(const Named& named, const char* output, int64_t dstType = -1);

/// Returns numbers as the steps, in int8 (int64 where the steps are more). What is no number
/// becomes 0.
at::Tensor Rounded(const at::Tensor& wide, const Steps& steps, const std::string& mode = "rint");

/// Numbers, and what each row of the last dim has to be multiplied with to have them back. A row of
/// zeros has the scale 0.
struct Dynamic {
    at::Tensor numbers;
    at::Tensor scale;   // without the last dim, float32
    at::Tensor offset;  // of asymmetric numbers; else undefined
};

/// scale = largest of a row / steps.most, numbers = round(wide / scale).
Dynamic RoundedByRow(const at::Tensor& wide, const Steps& steps);

/// scale = (largest - least) / 255, offset = steps.most - largest / scale, numbers =
/// round(wide / scale + offset).
Dynamic RoundedByRange(const at::Tensor& wide, const Steps& steps);

/// Returns a tensor in float32, or an undefined one.
at::Tensor Wide(const at::Tensor& tensor);

}  // namespace advstep_operators
