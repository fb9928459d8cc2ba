// SPDX-License-Identifier: Apache-2.0
// What lines of several tables need.

#pragma once

#include <ATen/ATen.h>

#include <array>
#include <vector>

namespace advstep_operators {

/// Returns the first N flags of an array, for ATen's output masks; absent ones are true.
template <size_t N>
std::array<bool, N> Mask(const std::vector<bool>& flags) {
    std::array<bool, N> mask;
    for (size_t place = 0; place < N; ++place) {
        mask[place] = place >= flags.size() || flags[place];
    }
    return mask;
}

/// Returns an index in the dtype that ATen takes.
inline at::Tensor Index(const at::Tensor& index) { return index.to(at::kLong); }

}  // namespace advstep_operators
