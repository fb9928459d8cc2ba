#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace advstep {

/// The order in which a launch plays its cores: position -> core index. Ascending, or shuffled by a
/// seed; the same seed and count give the same order on every machine.
class CoreOrder {
 public:
    explicit CoreOrder(std::optional<uint64_t> seed) : seed_(seed) {}

    bool ascending() const { return !seed_.has_value(); }

    /// A permutation of [0, coreCount). Empty when ascending.
    std::vector<int32_t> Of(int32_t coreCount) const;

 private:
    std::optional<uint64_t> seed_;
};

}  // namespace advstep
