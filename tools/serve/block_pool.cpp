// SPDX-License-Identifier: Apache-2.0
// Implements the pool of free blocks: prompts take blocks and return them.

#include "block_pool.h"

#include <cstddef>
#include <numeric>
#include <stdexcept>

namespace serve {

BlockPool::BlockPool(int64_t blocks)
    : free_(static_cast<size_t>(blocks)), used_(static_cast<size_t>(blocks), false) {
    std::iota(free_.rbegin(), free_.rend(), 0);  // block 0 on top
}

std::vector<int32_t> BlockPool::Take(int64_t count) {
    if (count > Free()) {
        throw std::logic_error("BlockPool: more blocks taken than are free");
    }
    std::vector<int32_t> taken(free_.rbegin(), free_.rbegin() + count);
    free_.resize(free_.size() - static_cast<size_t>(count));
    for (const int32_t block : taken) {
        used_[static_cast<size_t>(block)] = true;
    }
    return taken;
}

void BlockPool::Give(const std::vector<int32_t>& blocks) {
    for (const int32_t block : blocks) {
        if (!used_.at(static_cast<size_t>(block))) {
            throw std::logic_error("BlockPool: a block given back is not in use");
        }
        used_[static_cast<size_t>(block)] = false;
        free_.push_back(block);
    }
}

}  // namespace serve
