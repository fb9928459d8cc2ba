// SPDX-License-Identifier: Apache-2.0
// Contexts: a device as one part of a program sees it, and the table of all of them.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

class Device;
class Stream;

/// A device as one part of a program sees it, with a default stream and a failure mode. Objects are
/// reused (HandleTable). The members that do not change within a life are written while the handle
/// is 0 and are published with the handle. Readers of a context that may be ending take a
/// ContextRef (FindContext), which compares the handle again after reading.
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
    static constexpr int64_t kParameterNotSet = -1;
    std::array<std::atomic<int64_t>, 3> parameters{};  // by aclSysParamOpt

    // These belong to the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;
};

/// A context as it was when it was looked up, with the values of that life. alive() returns whether
/// that life still lasts.
struct ContextRef {
    Context* context = nullptr;
    Handle handle = 0;
    Device* device = nullptr;
    Stream* defaultStream = nullptr;
    Handle defaultStreamHandle = 0;
    bool primary = false;

    bool alive() const { return context != nullptr && context->Alive(handle); }
};

/// The contexts of all devices. The table is never destroyed, because threads and queued work may
/// outlive main().
HandleTable<Context>& TheContexts();

/// Makes a context with its default stream.
ContextRef CreateContext(Device* device, bool primary);

/// Finds the live context of a handle. 107017: there is none.
Status FindContext(const void* handle, ContextRef* context);

}  // namespace advstep
