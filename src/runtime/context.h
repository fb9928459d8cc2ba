#pragma once

#include <atomic>
#include <cstdint>

#include "src/runtime/handle_table.h"

namespace advstep {

class Device;
class Stream;

/// A device as one part of a program sees it: a default stream and the failure mode. Objects are
/// reused (HandleTable). The plain members are written while the handle is 0 and published with it.
class Context {
 public:
    bool Alive(Handle expected) const {
        return expected != 0 && handle.load(std::memory_order_acquire) == expected;
    }

    std::atomic<Handle> handle{0};
    Device* device = nullptr;
    bool primary = false;
    Stream* defaultStream = nullptr;
    Handle defaultStreamHandle = 0;
    std::atomic<bool> stopOnFailure{false};

    // Of the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;
};

}  // namespace advstep
