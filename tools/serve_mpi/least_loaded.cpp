// SPDX-License-Identifier: Apache-2.0
// Implements the tree whose root is the replica with the least load.

#include "least_loaded.h"

#include <limits>
#include <stdexcept>

namespace serve {

LeastLoaded::LeastLoaded(int64_t replicas) : replicas_(replicas), leaves_(1) {
    if (replicas < 1 || replicas > std::numeric_limits<int32_t>::max() / 4) {
        throw std::invalid_argument("LeastLoaded: replicas must be 1 to 2^29");
    }
    while (leaves_ < static_cast<size_t>(replicas)) {
        leaves_ *= 2;
    }
    load_.assign(leaves_, std::numeric_limits<int64_t>::max());
    winner_.resize(2 * leaves_);
    for (size_t leaf = 0; leaf < leaves_; ++leaf) {
        winner_[leaves_ + leaf] = static_cast<int32_t>(leaf);
        if (leaf < static_cast<size_t>(replicas)) {
            load_[leaf] = 0;
        }
    }
    for (size_t node = leaves_ - 1; node >= 1; --node) {
        winner_[node] = Better(node);
    }
}

int32_t LeastLoaded::Better(size_t node) const {
    const int32_t left = winner_[2 * node];
    const int32_t right = winner_[2 * node + 1];
    return load_[static_cast<size_t>(left)] <= load_[static_cast<size_t>(right)] ? left : right;
}

void LeastLoaded::Add(int64_t replica, int64_t change) {
    if (replica < 0 || replica >= replicas_) {
        throw std::out_of_range("LeastLoaded: no such replica");
    }
    load_[static_cast<size_t>(replica)] += change;
    for (size_t node = (leaves_ + static_cast<size_t>(replica)) / 2; node >= 1; node /= 2) {
        winner_[node] = Better(node);
    }
}

}  // namespace serve
