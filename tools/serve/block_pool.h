// SPDX-License-Identifier: Apache-2.0
// The host's allocator of KV cache blocks: those of prompts.

#pragma once

#include <cstdint>
#include <vector>

namespace serve {

/// Hands out the block ids [0, blocks). The block given back last is handed out first, so that data
/// left behind in a block meets its next owner soon.
class BlockPool {
 public:
    explicit BlockPool(int64_t blocks);

    int64_t Free() const { return static_cast<int64_t>(free_.size()); }
    int64_t Used() const { return static_cast<int64_t>(used_.size()) - Free(); }

    /// @throws std::logic_error  fewer than count are free
    std::vector<int32_t> Take(int64_t count);
    /// @throws std::logic_error  a block is not in use
    void Give(const std::vector<int32_t>& blocks);

 private:
    std::vector<int32_t> free_;  // a stack
    std::vector<bool> used_;
};

}  // namespace serve
