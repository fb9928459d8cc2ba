// SPDX-License-Identifier: Apache-2.0
// Notes the objects of calls with their call stacks, and reports those that are never freed.

#include "src/base/live_objects.h"

#include <execinfo.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "src/base/at_load.h"
#include "src/base/fork.h"
#include "src/base/leak_text.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"

namespace advstep {
namespace {

// The list of live objects. mutex guards everything. The child of a fork has an empty list, because
// it does not own the objects of its parent.
struct Live {
    std::mutex mutex;
    LiveObjectMap objects;
    // Objects at whose addresses there are new ones: the end of a device or context freed them.
    std::vector<std::pair<ObjectKind, LiveObject>> replaced;
    bool found = false;  // a report has found leaks
};

Live& TheLive() {
    static NeverDestroyed<Live> live;
    return *live;
}

std::atomic<LeakMode> leakMode{LeakMode::kOff};
std::atomic<bool> exitHooked{false};

// Runs at exit: after the destructors of all static objects, if the library was loaded when the
// program started.
void AtExit(int status, void*) {
    ReportLeaks("the end of the process");
    Live& live = TheLive();
    const std::lock_guard<std::mutex> lock(live.mutex);
    if (live.found && status == EXIT_SUCCESS && leakMode.load() == LeakMode::kFail) {
        std::fflush(nullptr);
        _exit(EXIT_FAILURE);
    }
}

LeakMode ModeOfEnvironment() noexcept {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets a variable
    const char* const mode = std::getenv("ADVANCE_STEP_LEAKS");
    return mode == nullptr                    ? LeakMode::kOff
           : std::strcmp(mode, "report") == 0 ? LeakMode::kReport
           : std::strcmp(mode, "fail") == 0   ? LeakMode::kFail
                                              : LeakMode::kOff;
}

// Reads the mode at load, because tensors may be made before the runtime reads its settings.
const AtLoad trackFromTheStart([] {
    if (const LeakMode mode = ModeOfEnvironment(); mode != LeakMode::kOff) {
        SetLeakMode(mode);
    }
});
// The child of a fork is as after the load. Its list is new.
const ForkHook trackAnew([](void*) noexcept {
    const LeakMode mode = ModeOfEnvironment();
    leakMode.store(mode);
    trackingObjects.store(mode != LeakMode::kOff);
});

}  // namespace

void SetLeakMode(LeakMode mode) {
    leakMode.store(mode);
    if (mode != LeakMode::kOff && !exitHooked.exchange(true)) {
        (void)on_exit(&AtExit, nullptr);
    }
    trackingObjects.store(mode != LeakMode::kOff);
    if (mode == LeakMode::kOff) {
        Live& live = TheLive();
        const std::lock_guard<std::mutex> lock(live.mutex);
        live.objects.clear();
        live.replaced.clear();
    }
}

void AddLiveObject(ObjectKind kind, const char* call, const void* object, size_t bytes) noexcept {
    const NoCancellation noCancellation;
    LiveObject made;
    made.call = call;
    made.bytes = bytes;
    made.frames = backtrace(made.stack, LiveObject::kMostFrames);
    try {
        Live& live = TheLive();
        const std::lock_guard<std::mutex> lock(live.mutex);
        LiveObject& place = live.objects[{kind, reinterpret_cast<uintptr_t>(object)}];
        if (place.call != nullptr) {
            live.replaced.emplace_back(kind, place);
        }
        place = made;
    } catch (const std::exception&) {
    }
}

FreeingObject::FreeingObject(ObjectKind kind, const void* object) noexcept {
    if (!TrackingObjects()) {
        return;
    }
    Live& live = TheLive();
    const std::lock_guard<std::mutex> lock(live.mutex);
    node_ = live.objects.extract({kind, reinterpret_cast<uintptr_t>(object)});
}

FreeingObject::~FreeingObject() {
    if (!freed_ && !node_.empty()) {
        Live& live = TheLive();
        const std::lock_guard<std::mutex> lock(live.mutex);
        live.objects.insert(std::move(node_));
    }
}

void ReportLeaks(const char* when) noexcept {
    if (!TrackingObjects()) {
        return;
    }
    const NoCancellation noCancellation;
    try {
        std::vector<std::pair<ObjectKind, LiveObject>> left;
        Live& live = TheLive();
        {
            const std::lock_guard<std::mutex> lock(live.mutex);
            left.swap(live.replaced);
            for (const auto& [key, object] : live.objects) {
                left.emplace_back(key.first, object);
            }
            live.objects.clear();
            live.found |= !left.empty();
        }
        if (!left.empty()) {
            const std::string text = LeakText(when, left);
            std::fwrite(text.data(), 1, text.size(), stderr);
        }
    } catch (const std::exception&) {
        std::fputs("advance_step leaks: no memory was left to list what was not freed\n", stderr);
    }
}

}  // namespace advstep
