// SPDX-License-Identifier: Apache-2.0
// Writes the text of a report of leaks, with the names of the callers.

#include "src/base/leak_text.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <tuple>

namespace advstep {
namespace {

constexpr size_t kMostGroups = 20;
constexpr int kMostLines = 8;  // that are printed of a call stack

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

// Returns the start of the shared object or program that contains an address.
const void* ObjectOf(const void* address) {
    Dl_info info{};
    return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// Returns the start of this library, whose frames are left out of call stacks. Returns null if the
// library is linked into the program, whose frames are shown.
const void* OwnSharedObject() {
    const void* const own = ObjectOf(reinterpret_cast<const void*>(&LeakText));
    const void* const program = ObjectOf(reinterpret_cast<const void*>(getauxval(AT_ENTRY)));
    return own == program ? nullptr : own;
}

std::string FrameText(void* address) {
    Dl_info info{};
    // The address is a return address; the call instruction is before it.
    const auto* const call = static_cast<const char*>(address) - 1;
    if (dladdr(call, &info) == 0 || info.dli_fname == nullptr) {
        return fmt::format("{}", address);
    }
    const auto offset = static_cast<size_t>(call - static_cast<const char*>(info.dli_fbase));
    std::string text = fmt::format("{}+{:#x}", info.dli_fname, offset);
    if (info.dli_sname != nullptr) {
        int status = 0;
        const std::unique_ptr<char, void (*)(void*)> plain(
            abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status), &std::free);
        text += fmt::format(" ({})", plain != nullptr ? plain.get() : info.dli_sname);
    }
    return text;
}

void AppendStack(const LiveObject& object, const void* own, std::string* text) {
    // A sanitizer may have put a function of its own before the library's frames.
    int frame =
        object.frames > 1 && ObjectOf(object.stack[0]) != own && ObjectOf(object.stack[1]) == own
            ? 1
            : 0;
    while (own != nullptr && frame < object.frames && ObjectOf(object.stack[frame]) == own) {
        ++frame;
    }
    for (int line = 0; line < kMostLines && frame < object.frames; ++line, ++frame) {
        *text += fmt::format("      {}\n", FrameText(object.stack[frame]));
    }
}

}  // namespace

std::string LeakText(const char* when,
                     const std::vector<std::pair<ObjectKind, LiveObject>>& objects) {
    using Stack = std::vector<void*>;
    std::map<std::tuple<ObjectKind, std::string, Stack>, Group> groups;
    for (const auto& [kind, object] : objects) {
        const Stack stack(object.stack, object.stack + object.frames);
        Group& group = groups.try_emplace({kind, object.call, stack}, Group{kind, &object, 0, 0})
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
    std::string text =
        fmt::format("advance_step leaks: {} {} not freed before {}:\n", objects.size(),
                    objects.size() == 1 ? "object was" : "objects were", when);
    const void* const own = OwnSharedObject();
    for (size_t index = 0; index < std::min(sorted.size(), kMostGroups); ++index) {
        const Group& group = sorted[index];
        const KindName name = NameOfKind(group.kind);
        text += fmt::format("  {} {}", group.count, group.count == 1 ? name.one : name.many);
        text += group.bytes > 0 ? fmt::format(", {} bytes", group.bytes) : "";
        text += fmt::format(", of {}\n", group.first->call);
        AppendStack(*group.first, own, &text);
    }
    if (sorted.size() > kMostGroups) {
        text += fmt::format("  and those of {} other places\n", sorted.size() - kMostGroups);
    }
    return text;
}

}  // namespace advstep
