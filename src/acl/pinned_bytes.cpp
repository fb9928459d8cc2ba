// SPDX-License-Identifier: Apache-2.0
// Keeps what each block of pinned host memory takes of the host.

#include "src/acl/pinned_bytes.h"

#include <exception>
#include <map>
#include <mutex>

#include "src/base/never_destroyed.h"
#include "src/base/sanitizer_scope.h"

namespace advstep {
namespace {

// By address. mutex guards the map; no lock is taken under it.
struct PinnedBlocks {
    std::mutex mutex;
    std::map<const void*, ResourceHold> holds;
};

PinnedBlocks& ThePinnedBlocks() {
    static NeverDestroyed<PinnedBlocks> blocks;
    return *blocks;
}

}  // namespace

void NotePinned(const void* address, ResourceHold hold) noexcept {
    const SanitizerScope own;
    try {
        PinnedBlocks& blocks = ThePinnedBlocks();
        const std::lock_guard<std::mutex> lock(blocks.mutex);
        blocks.holds[address] = std::move(hold);
    } catch (const std::exception&) {
    }
}

ResourceHold TakePinned(const void* address) {
    PinnedBlocks& blocks = ThePinnedBlocks();
    const std::lock_guard<std::mutex> lock(blocks.mutex);
    const auto found = blocks.holds.find(address);
    if (found == blocks.holds.end()) {
        return {};
    }
    ResourceHold hold = std::move(found->second);
    blocks.holds.erase(found);
    return hold;
}

}  // namespace advstep
