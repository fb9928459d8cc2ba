// SPDX-License-Identifier: Apache-2.0
// Shuffles core indices by a seed, the same on every machine.

#include "src/runtime/device/core_order.h"

#include <numeric>
#include <utility>

namespace advstep {
namespace {

// SplitMix64 (G. Steele et al., OOPSLA 2014): the standard library's distributions differ between
// implementations.
uint64_t NextRandom(uint64_t* state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
}

}  // namespace

std::vector<int32_t> CoreOrder::Of(int32_t coreCount) const {
    std::vector<int32_t> order;
    if (!seed_) {
        return order;
    }
    order.resize(static_cast<size_t>(coreCount));
    std::iota(order.begin(), order.end(), 0);
    uint64_t state = *seed_;
    for (size_t left = order.size(); left > 1; --left) {
        std::swap(order[left - 1], order[NextRandom(&state) % left]);
    }
    return order;
}

}  // namespace advstep
