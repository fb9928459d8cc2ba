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

/// As Index, and refuses indices that are not from 0 to below `end`. For kernels of ATen that
/// access memory by them without a check.
inline at::Tensor IndexBelow(const at::Tensor& index, int64_t end, const char* name) {
    const at::Tensor places = Index(index).contiguous();
    if (!places.is_meta() && places.numel() > 0) {
        const auto [least, most] = at::aminmax(places);
        TORCH_CHECK_INDEX(least.item<int64_t>() >= 0 && most.item<int64_t>() < end, name,
                          " has values from ", least.item<int64_t>(), " to ", most.item<int64_t>(),
                          "; expected 0 to ", end - 1);
    }
    return places;
}

}  // namespace advstep_operators
