// SPDX-License-Identifier: Apache-2.0
// The list of objects that calls have made and not freed yet, for ADVANCE_STEP_LEAKS.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "src/base/call_stack.h"
#include "src/base/status.h"

namespace advstep {

/// The reaction to objects that a program leaves unfreed.
enum class LeakMode { kOff, kReport, kFail };

enum class ObjectKind {
    kDeviceMemory,
    kPinnedMemory,
    kPhysicalMemory,
    kImportedMemory,  // its address is the key
    kContext,
    kStream,
    kEvent,
    kNotify,
    kModel,
    kBinary,
    kTensor,
    kScalar,
    kArray,
    kExecutor,
};

/// An object, and the call that has made it.
struct LiveObject {
    const char* call = nullptr;  // the name of the C function
    size_t bytes = 0;            // of a block of memory; 0 for other objects
    CallStack stack;
};

using LiveObjectMap = std::map<std::pair<ObjectKind, uintptr_t>, LiveObject>;

inline std::atomic<bool> trackingObjects{false};

/// Returns whether objects are noted. If not, the functions below do nothing.
inline bool TrackingObjects() { return trackingObjects.load(std::memory_order_relaxed); }

/// Sets the reaction to leaks at aclFinalize and at the end of the process. Before the first call
/// the environment variable alone decides.
void SetLeakMode(LeakMode mode);

void AddLiveObject(ObjectKind kind, const char* call, const void* object, size_t bytes) noexcept;

/// Notes the object of a call that has succeeded. If memory is short, the object is not noted.
inline void NoteMade(ObjectKind kind, const char* call, const void* object, size_t bytes = 0) {
    if (TrackingObjects()) {
        AddLiveObject(kind, call, object, bytes);
    }
}

/// Returns `made`, and notes the object if `made` is a success.
inline Status NoteIfMade(Status made, ObjectKind kind, const char* call, void* const* object,
                         size_t bytes = 0) {
    if (made.ok()) {
        NoteMade(kind, call, *object, bytes);
    }
    return made;
}

/// Removes an object from the list while it is being freed. That happens before the object is
/// freed, because another object may get its address right after. The destructor adds the object
/// again if Freed was not called.
class FreeingObject {
 public:
    FreeingObject(ObjectKind kind, const void* object) noexcept;
    ~FreeingObject();
    FreeingObject(const FreeingObject&) = delete;
    FreeingObject& operator=(const FreeingObject&) = delete;

    void Freed() { freed_ = true; }

 private:
    LiveObjectMap::node_type node_;
    bool freed_ = false;
};

/// Calls `free`, which returns a Status, and removes the object from the list if that succeeds.
template <typename Free>
Status Freeing(ObjectKind kind, const void* object, Free&& free) {
    if (!TrackingObjects()) {
        return free();
    }
    FreeingObject freeing(kind, object);
    Status freed = free();
    if (freed.ok()) {
        freeing.Freed();
    }
    return freed;
}

/// Removes an object from the list that is certain to be freed next.
inline void ForgetObject(ObjectKind kind, const void* object) {
    if (TrackingObjects()) {
        FreeingObject(kind, object).Freed();
    }
}

/// Reports the objects that have not been freed on standard error, and empties the list. With
/// LeakMode::kFail, a process that has left objects ends with an exit status other than 0.
void ReportLeaks(const char* when) noexcept;

}  // namespace advstep
