// SPDX-License-Identifier: Apache-2.0
// Enters, finds and removes blocks of memory.

#include "src/runtime/sanitizer/block_table.h"

#include <algorithm>
#include <iterator>

namespace advstep {

const char* Block::KindText() const {
    switch (kind) {
        case Kind::kDevice:
            return "device memory";
        case Kind::kMapped:
            return "mapped device memory";
        case Kind::kImported:
            return "imported device memory";
        case Kind::kPinned:
            return "pinned host memory";
        case Kind::kRegistered:
            return "registered host memory";
    }
    return "memory";
}

std::shared_ptr<Block> BlockTable::Enter(Block::Kind kind, uintptr_t begin, uint64_t bytes,
                                         const Device* device) {
    const auto block = std::make_shared<Block>();
    block->kind = kind;
    block->begin = begin;
    block->bytes = bytes;
    block->device = device;
    block->number = ++entered_;
    block->allocated = CallStack::Here();
    freed_.erase(std::remove_if(freed_.begin(), freed_.end(),
                                [&](const auto& freed) {
                                    return freed->begin < block->end() && begin < freed->end();
                                }),
                 freed_.end());
    live_[begin] = block;
    return block;
}

std::shared_ptr<Block> BlockTable::Leave(uintptr_t begin) {
    const auto found = live_.find(begin);
    if (found == live_.end()) {
        return nullptr;
    }
    std::shared_ptr<Block> block = std::move(found->second);
    live_.erase(found);
    block->ended = true;
    block->freed = CallStack::Here();
    if (freed_.size() == kMostFreed) {
        freed_.pop_front();
    }
    freed_.push_back(block);
    return block;
}

std::shared_ptr<Block> BlockTable::Find(uintptr_t address) const {
    const auto after = live_.upper_bound(address);
    if (after == live_.begin()) {
        return nullptr;
    }
    const std::shared_ptr<Block>& block = std::prev(after)->second;
    return address < block->end() ? block : nullptr;
}

std::shared_ptr<Block> BlockTable::FindFreed(uintptr_t address) const {
    const auto found = std::find_if(freed_.rbegin(), freed_.rend(), [&](const auto& block) {
        return block->begin <= address && address < block->end();
    });
    return found == freed_.rend() ? nullptr : *found;
}

}  // namespace advstep
