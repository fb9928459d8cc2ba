// SPDX-License-Identifier: Apache-2.0
// The order in which a launch plays its simulated cores.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace advstep {

/// The order in which a launch plays its cores: position -> core index. The order is ascending, or
/// shuffled by a seed. The same seed and count give the same order on every machine.
class CoreOrder {
 public:
    explicit CoreOrder(std::optional<uint64_t> seed) : seed_(seed) {}

    bool ascending() const { return !seed_.has_value(); }

    /// Returns a permutation of [0, coreCount). It is empty when the order is ascending.
    std::vector<int32_t> Of(int32_t coreCount) const;

 private:
    std::optional<uint64_t> seed_;
};

}  // namespace advstep
