// SPDX-License-Identifier: Apache-2.0
// The slot of a token: block id times block size plus offset.

#pragma once

#include <cstdint>

namespace advstep {

/// Sets the slot of a token's K and V: block * blockSize + offset. Returns false if it does not fit
/// 64 bits. Requires blockSize >= 1 and 0 <= offset < blockSize.
inline bool SlotIn(int64_t block, int64_t blockSize, int64_t offset, int64_t* slot) {
    int64_t first = 0;
    return !__builtin_mul_overflow(block, blockSize, &first) &&
           !__builtin_add_overflow(first, offset, slot);
}

/// As SlotIn, but wraps in 64 bits.
inline int64_t WrappingSlot(int64_t block, int64_t blockSize, int64_t offset) {
    return static_cast<int64_t>(static_cast<uint64_t>(block) * static_cast<uint64_t>(blockSize) +
                                static_cast<uint64_t>(offset));
}

}  // namespace advstep
