// SPDX-License-Identifier: Apache-2.0
// The blocks of prompts: prompts that begin alike share them.

#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "block_pool.h"
#include "toy_model.h"

namespace serve {

/// Counts who holds a block. A full block of a prefix that ids name is published when its K and V
/// are in the cache; prompts with the same prefix then hold it, too. When nobody holds it, it stays
/// as it is until its place is wanted: those that have been idle the longest go first, and the end
/// of a prefix before its begin. Without ids it is a BlockPool.
class PrefixCache {
 public:
    PrefixCache(int64_t blocks, int64_t blockSize);

    /// Blocks that hold nothing or are idle.
    int64_t Available() const { return pool_.Free() + static_cast<int64_t>(idle_.size()); }
    /// Blocks that somebody holds.
    int64_t Held() const { return pool_.Used() - static_cast<int64_t>(idle_.size()); }

    /// Tokens of a prompt's begin that are in the cache: whole blocks, and not the last token,
    /// which has to be computed.
    int64_t CachedTokens(const TextSeeds& seeds, int64_t promptTokens) const;
    /// Whether the blocks of a prompt can be taken.
    bool HasRoomFor(const TextSeeds& seeds, int64_t promptTokens) const;
    /// Holds those of its begin that are in the cache, and takes others for the rest.
    /// @throws std::logic_error  there is no room for them
    std::vector<int32_t> Take(const TextSeeds& seeds, int64_t promptTokens);
    /// Publishes the full blocks of a prefix of which `tokens` are in the cache.
    void Publish(const std::vector<int32_t>& blocks, const TextSeeds& seeds, int64_t tokens);
    /// Lets the blocks of a prompt go.
    /// @throws std::logic_error  nobody holds one of them
    void Give(const std::vector<int32_t>& blocks);

 private:
    struct Block {
        int64_t holders = 0;
        bool isPublished = false;
        uint64_t key = 0;                      // if it is published
        std::list<int32_t>::iterator place{};  // in idle_, if it is there
    };

    Block& At(int32_t block) { return blocks_.at(static_cast<size_t>(block)); }
    /// Of the column-th block of a prompt, which ends within the prefix.
    uint64_t KeyOf(const TextSeeds& seeds, int64_t column) const;
    /// Those of a prompt's begin that are in the cache.
    std::vector<int32_t> Find(const TextSeeds& seeds, int64_t promptTokens) const;
    int64_t Missing(int64_t found, int64_t promptTokens) const;
    void Evict();

    const int64_t blockSize_;
    BlockPool pool_;
    std::vector<Block> blocks_;
    std::unordered_map<uint64_t, int32_t> published_;  // by key
    std::list<int32_t> idle_;                          // the one that goes first in front
};

}  // namespace serve
