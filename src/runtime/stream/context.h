#pragma once

#include <atomic>
#include <cstdint>

#include "src/runtime/task/handle_table.h"

namespace advstep {

class Device;
class Stream;

/// A device as one part of a program sees it: a default stream and the failure mode. Objects are
/// reused (HandleTable). What does not change within a life is written while the handle is 0 and
/// published with it; readers of a context that may be ending take a ContextRef, which compares the
/// handle again after reading.
class Context {
 public:
    bool Alive(Handle expected) const {
        return expected != 0 && handle.load(std::memory_order_acquire) == expected;
    }

    std::atomic<Handle> handle{0};
    std::atomic<Device*> device{nullptr};
    std::atomic<bool> primary{false};
    std::atomic<Stream*> defaultStream{nullptr};
    std::atomic<Handle> defaultStreamHandle{0};
    std::atomic<bool> stopOnFailure{false};

    // Of the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;
};

/// A context as it was when it was looked up: values of one life. Whether it still lives is
/// context->Alive(handle).
struct ContextRef {
    Context* context = nullptr;
    Handle handle = 0;
    Device* device = nullptr;
    Stream* defaultStream = nullptr;
    Handle defaultStreamHandle = 0;
    bool primary = false;

    bool alive() const { return context != nullptr && context->Alive(handle); }
};

}  // namespace advstep
