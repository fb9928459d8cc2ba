// SPDX-License-Identifier: Apache-2.0
// Keeps freed blocks, oldest first.

#include "src/runtime/memory/freed_blocks.h"

namespace advstep {

void FreedBlocks::Keep(void* address, const BlockSource& source, size_t bytes) noexcept {
    if (source.guard != nullptr || bytes > kMostBytes) {
        GiveBackBlock(address, source);
        return;
    }
    while (count_ == kMost || bytes_ + bytes > kMostBytes) {
        GiveBackOldest();
    }
    kept_[(first_ + count_) % kMost] = {address, source, bytes, allocations_};
    ++count_;
    bytes_ += bytes;
}

void FreedBlocks::Allocates() noexcept {
    ++allocations_;
    while (count_ > 0 && allocations_ - kept_[first_].since > kMost) {
        GiveBackOldest();
    }
}

void FreedBlocks::GiveBackAll() noexcept {
    while (count_ > 0) {
        GiveBackOldest();
    }
}

void FreedBlocks::GiveBackOldest() noexcept {
    const Kept& oldest = kept_[first_];
    bytes_ -= oldest.bytes;
    GiveBackBlock(oldest.address, oldest.source);
    first_ = (first_ + 1) % kMost;
    --count_;
}

}  // namespace advstep
