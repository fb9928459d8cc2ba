// SPDX-License-Identifier: Apache-2.0
// Notes the objects of calls with their call stacks, and reports those that are never freed.

#include "src/base/live_objects.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "src/base/at_load.h"
#include "src/base/exit_status.h"
#include "src/base/fork.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"

namespace advstep {
namespace {

// The list of live objects. mutex guards everything. The child of a fork has an empty list, because
// it does not own the objects of its parent.
struct LiveObjects {
    std::mutex mutex;
    LiveObjectMap objects;
    // Objects at whose addresses there are new ones: the end of a device or context freed them.
    std::vector<std::pair<ObjectKind, LiveObject>> replaced;
    bool found = false;  // a report has found leaks
};

LiveObjects& TheLiveObjects() {
    static NeverDestroyed<LiveObjects> live;
    return *live;
}

std::atomic<LeakMode> leakMode{LeakMode::kOff};
std::atomic<bool> exitHooked{false};

// Runs at exit: after the destructors of all static objects, if the library was loaded when the
// program started.
void AtExit(int, void*) {
    ReportLeaks("the end of the process");
    LiveObjects& live = TheLiveObjects();
    const std::lock_guard<std::mutex> lock(live.mutex);
    if (live.found && leakMode.load() == LeakMode::kFail) {
        FailAtExit();
    }
}

LeakMode ModeOfEnvironment() noexcept {
    const char* const mode = secure_getenv("ADVANCE_STEP_LEAKS");
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

// The text of a report.

constexpr size_t kMostGroups = 20;
constexpr size_t kMostLines = 8;  // that are printed of a call stack

struct KindName {
    const char* one;
    const char* many;
};

KindName NameOfKind(ObjectKind kind) {
    switch (kind) {
        case ObjectKind::kDeviceMemory:
            return {"block of device memory", "blocks of device memory"};
        case ObjectKind::kPinnedMemory:
            return {"block of pinned host memory", "blocks of pinned host memory"};
        case ObjectKind::kPhysicalMemory:
            return {"handle of physical memory", "handles of physical memory"};
        case ObjectKind::kImportedMemory:
            return {"import of device memory", "imports of device memory"};
        case ObjectKind::kContext:
            return {"context", "contexts"};
        case ObjectKind::kStream:
            return {"stream", "streams"};
        case ObjectKind::kEvent:
            return {"event", "events"};
        case ObjectKind::kNotify:
            return {"notify", "notifies"};
        case ObjectKind::kModel:
            return {"captured model", "captured models"};
        case ObjectKind::kBinary:
            return {"device binary", "device binaries"};
        case ObjectKind::kTensor:
            return {"tensor", "tensors"};
        case ObjectKind::kScalar:
            return {"scalar", "scalars"};
        case ObjectKind::kArray:
            return {"array or list", "arrays and lists"};
        case ObjectKind::kExecutor:
            return {"executor", "executors"};
    }
    return {"object", "objects"};
}

struct Group {
    ObjectKind kind;
    const LiveObject* first;
    size_t count;
    size_t bytes;
};

void AppendStack(const CallStack& stack, std::string* text) {
    for (const std::string& line : stack.Lines(kMostLines)) {
        *text += fmt::format("      {}\n", line);
    }
}

// Lists the objects in groups. A group has one kind, one call and one call stack; the groups with
// the most bytes come first. `when` is the time of the report, for the text.
std::string LeakText(const char* when,
                     const std::vector<std::pair<ObjectKind, LiveObject>>& objects) {
    std::map<std::tuple<ObjectKind, std::string, CallStack>, Group> groups;
    for (const auto& [kind, object] : objects) {
        Group& group =
            groups.try_emplace({kind, object.call, object.stack}, Group{kind, &object, 0, 0})
                .first->second;
        ++group.count;
        group.bytes += object.bytes;
    }
    std::vector<Group> sorted;
    for (const auto& [key, group] : groups) {
        sorted.push_back(group);
    }
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Group& one, const Group& other) { return one.bytes > other.bytes; });
    sorted.resize(std::min(sorted.size(), kMostGroups));
    std::vector<const CallStack*> shown;
    for (const Group& group : sorted) {
        shown.push_back(&group.first->stack);
    }
    CallStack::FindSources(shown, kMostLines);
    std::string text =
        fmt::format("advance_step leaks: {} {} not freed before {}:\n", objects.size(),
                    objects.size() == 1 ? "object was" : "objects were", when);
    for (const Group& group : sorted) {
        const KindName name = NameOfKind(group.kind);
        text += fmt::format("  {} {}", group.count, group.count == 1 ? name.one : name.many);
        text += group.bytes > 0 ? fmt::format(", {} bytes", group.bytes) : "";
        text += fmt::format(", of {}\n", group.first->call);
        AppendStack(group.first->stack, &text);
    }
    if (groups.size() > sorted.size()) {
        text += fmt::format("  and those of {} other places\n", groups.size() - sorted.size());
    }
    return text;
}

}  // namespace

// The functions of the header.

void SetLeakMode(LeakMode mode) {
    leakMode.store(mode);
    if (mode != LeakMode::kOff && !exitHooked.exchange(true)) {
        PrepareExitStatus();
        (void)on_exit(&AtExit, nullptr);
    }
    trackingObjects.store(mode != LeakMode::kOff);
    if (mode == LeakMode::kOff) {
        LiveObjects& live = TheLiveObjects();
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
    made.stack = CallStack::Here();
    try {
        LiveObjects& live = TheLiveObjects();
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
    LiveObjects& live = TheLiveObjects();
    const std::lock_guard<std::mutex> lock(live.mutex);
    node_ = live.objects.extract({kind, reinterpret_cast<uintptr_t>(object)});
}

FreeingObject::~FreeingObject() {
    if (!freed_ && !node_.empty()) {
        LiveObjects& live = TheLiveObjects();
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
        LiveObjects& live = TheLiveObjects();
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
