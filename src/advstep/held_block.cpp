// SPDX-License-Identifier: Apache-2.0
// Device memory whose address nobody else gets while it is held, for the graph library.

#include "src/advstep/held_block.h"

#include <memory>
#include <optional>

#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/memory/memory_holds.h"
#include "src/runtime/stream/current.h"

using namespace advstep;

aclError advstepAllocateHeld(uint64_t bytes, void** address, void** hold) {
    constexpr auto call = "aclrtMalloc";  // whose messages and leaks these are
    return AclBoundary(call, [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(address, "address"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(hold, "hold"));
        if (bytes == 0) {
            return Error(ACL_ERROR_INVALID_PARAM, "size is 0; expected at least 1 byte");
        }
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        auto held = std::make_unique<std::optional<MemoryHold>>();
        Status made = TakeDeviceMemory(current.device, [&] {
            return TheDeviceMemory().Allocate(MemoryKind::kDevice, current.device, bytes, address,
                                              held.get());
        });
        if (made.ok()) {
            *hold = held.release();
        }
        return NoteIfMade(std::move(made), ObjectKind::kDeviceMemory, call, address, bytes);
    });
}

void advstepEndHold(void* hold) { delete static_cast<std::optional<MemoryHold>*>(hold); }
