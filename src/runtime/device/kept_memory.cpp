// SPDX-License-Identifier: Apache-2.0
// Lends the kept memory to one launch at a time.

#include "src/runtime/device/kept_memory.h"

#include <algorithm>
#include <new>

namespace advstep {

KeptMemory::Lease KeptMemory::Borrow(int64_t bytes) {
    if (taken_.exchange(true, std::memory_order_acquire)) {
        return {nullptr, 0};
    }
    const int64_t wanted = std::min(bytes, kMostBytes);
    if (size_ < wanted) {
        memory_.reset();
        memory_.reset(new (std::nothrow) unsigned char[static_cast<size_t>(wanted)]);
        size_ = memory_ != nullptr ? wanted : 0;
    }
    return {this, std::min(wanted, size_)};
}

void KeptMemory::Free() {
    memory_.reset();
    size_ = 0;
}

}  // namespace advstep
