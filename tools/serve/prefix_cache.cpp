// SPDX-License-Identifier: Apache-2.0
// Finds, shares, publishes and evicts the blocks of prompts.

#include "prefix_cache.h"

#include <algorithm>
#include <stdexcept>

namespace serve {

PrefixCache::PrefixCache(int64_t blocks, int64_t blockSize)
    : blockSize_(blockSize), pool_(blocks), blocks_(static_cast<size_t>(blocks)) {}

uint64_t PrefixCache::KeyOf(const TextSeeds& seeds, int64_t column) const {
    const int64_t last = (column + 1) * blockSize_ - 1;
    return Mix(seeds.At(last) + Mix(static_cast<uint64_t>(column)));
}

std::vector<int32_t> PrefixCache::Find(const TextSeeds& seeds, int64_t promptTokens) const {
    const int64_t columns = std::min(seeds.sharedTokens, promptTokens - 1) / blockSize_;
    std::vector<int32_t> found;
    for (int64_t column = 0; column < columns; ++column) {
        const auto block = published_.find(KeyOf(seeds, column));
        if (block == published_.end()) {
            break;
        }
        found.push_back(block->second);
    }
    return found;
}

int64_t PrefixCache::CachedTokens(const TextSeeds& seeds, int64_t promptTokens) const {
    return static_cast<int64_t>(Find(seeds, promptTokens).size()) * blockSize_;
}

int64_t PrefixCache::Missing(int64_t found, int64_t promptTokens) const {
    return (promptTokens + blockSize_ - 1) / blockSize_ - found;
}

bool PrefixCache::HasRoomFor(const TextSeeds& seeds, int64_t promptTokens) const {
    const std::vector<int32_t> found = Find(seeds, promptTokens);
    const int64_t idle = std::count_if(found.begin(), found.end(), [this](int32_t block) {
        return blocks_[static_cast<size_t>(block)].holders == 0;
    });
    return Missing(static_cast<int64_t>(found.size()), promptTokens) <= Available() - idle;
}

std::vector<int32_t> PrefixCache::Take(const TextSeeds& seeds, int64_t promptTokens) {
    if (!HasRoomFor(seeds, promptTokens)) {
        throw std::logic_error("PrefixCache: more blocks taken than are available");
    }
    std::vector<int32_t> taken = Find(seeds, promptTokens);
    for (const int32_t block : taken) {
        if (At(block).holders++ == 0) {
            idle_.erase(At(block).place);
        }
    }
    const int64_t missing = Missing(static_cast<int64_t>(taken.size()), promptTokens);
    while (pool_.Free() < missing) {
        Evict();
    }
    for (const int32_t block : pool_.Take(missing)) {
        At(block).holders = 1;
        taken.push_back(block);
    }
    return taken;
}

void PrefixCache::Evict() {
    const int32_t block = idle_.front();
    idle_.pop_front();
    published_.erase(At(block).key);
    At(block) = Block();
    pool_.Give({block});
}

void PrefixCache::Publish(const std::vector<int32_t>& blocks, const TextSeeds& seeds,
                          int64_t tokens) {
    const int64_t columns = std::min(seeds.sharedTokens, tokens) / blockSize_;
    for (int64_t column = 0; column < columns; ++column) {
        const int32_t block = blocks.at(static_cast<size_t>(column));
        const uint64_t key = KeyOf(seeds, column);
        // Of two that have computed the same, the first one's is found.
        if (!At(block).isPublished && published_.emplace(key, block).second) {
            At(block).isPublished = true;
            At(block).key = key;
        }
    }
}

void PrefixCache::Give(const std::vector<int32_t>& blocks) {
    std::vector<int32_t> empty;
    std::vector<int32_t> idle;
    for (const int32_t block : blocks) {
        if (At(block).holders == 0) {
            throw std::logic_error("PrefixCache: a block given back is held by nobody");
        }
        if (--At(block).holders == 0) {
            (At(block).isPublished ? idle : empty).push_back(block);
        }
    }
    pool_.Give(empty);
    for (auto block = idle.rbegin(); block != idle.rend(); ++block) {
        At(*block).place = idle_.insert(idle_.end(), *block);
    }
}

}  // namespace serve
