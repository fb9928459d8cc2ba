// SPDX-License-Identifier: Apache-2.0
// The replica with the least load.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace serve {

/// A load for each replica, and the least of them at once: a tournament tree. A change costs as
/// many comparisons as the tree is high, 17 for 100,000 replicas.
class LeastLoaded {
 public:
    /// @param replicas  >= 1; all without load
    explicit LeastLoaded(int64_t replicas);

    int64_t Replicas() const { return replicas_; }
    /// The lowest of those with the least load.
    int64_t Least() const { return winner_[1]; }
    int64_t Load(int64_t replica) const { return load_[static_cast<size_t>(replica)]; }
    /// @param change  what comes, or, negative, what goes
    void Add(int64_t replica, int64_t change);

 private:
    int32_t Better(size_t node) const;

    int64_t replicas_;
    size_t leaves_;                // a power of two
    std::vector<int64_t> load_;    // [leaves_]; more than any load where there is no replica
    std::vector<int32_t> winner_;  // [2 leaves_] node n has the better of 2n and 2n + 1
};

}  // namespace serve
