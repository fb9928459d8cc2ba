// SPDX-License-Identifier: Apache-2.0
// The objects that calls have made and that no call has freed yet, for ADVANCE_STEP_LEAKS.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "src/base/status.h"

namespace advstep {

/// The reaction to objects that a program leaves unfreed.
enum class LeakMode { kOff, kReport, kFail };

enum class ObjectKind {
    kDeviceMemory,
    kPinnedMemory,
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
    static constexpr int kMostFrames = 24;

    const char* call = nullptr;
    size_t bytes = 0;  // of memory
    int frames = 0;
    void* stack[kMostFrames] = {};  // return addresses, innermost first
};

using LiveObjectMap = std::map<std::pair<ObjectKind, uintptr_t>, LiveObject>;

inline std::atomic<bool> trackingObjects{false};

/// Returns whether objects are noted. Everything else here does nothing while they are not.
inline bool TrackingObjects() { return trackingObjects.load(std::memory_order_relaxed); }

/// Sets what happens at aclFinalize and at the end of the process. The environment alone decides
/// until the first call.
void SetLeakMode(LeakMode mode);

void AddLiveObject(ObjectKind kind, const char* call, const void* object, size_t bytes) noexcept;

/// Notes the object of a call that has succeeded. If memory is short, the object is not noted.
inline void NoteMade(ObjectKind kind, const char* call, const void* object, size_t bytes = 0) {
    if (TrackingObjects()) {
        AddLiveObject(kind, call, object, bytes);
    }
}

/// Passes `made` on, and notes the object if it is a success.
inline Status Made(Status made, ObjectKind kind, const char* call, void* const* object,
                   size_t bytes = 0) {
    if (made.ok()) {
        NoteMade(kind, call, *object, bytes);
    }
    return made;
}

/// An object that is being freed. It is forgotten before it is freed, because its address may be
/// another object's right after; it is noted again if it was not freed in the end.
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

/// Runs `free`, which returns a Status, and forgets the object if it succeeds.
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

/// Forgets an object that is certain to be freed next.
inline void ForgetObject(ObjectKind kind, const void* object) {
    if (TrackingObjects()) {
        FreeingObject(kind, object).Freed();
    }
}

/// Writes to standard error which objects have not been freed, and forgets them. With
/// LeakMode::kFail the exit status of the process will not be 0 if there are any.
void ReportLeaks(const char* when) noexcept;

}  // namespace advstep
