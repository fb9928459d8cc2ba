// SPDX-License-Identifier: Apache-2.0
// Takes call stacks and names their frames.

#include "src/base/call_stack.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/core.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "src/base/crash_signal.h"
#include "src/base/source_lines.h"

namespace advstep {
namespace {

// Returns the start of the shared object or program that contains an address.
const void* ObjectOf(const void* address) {
    Dl_info info{};
    return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

// Returns the start of this library, whose frames are left out of call stacks. Returns null if the
// library is linked into the program, whose frames are shown.
const void* OwnSharedObject() {
    const void* const own = ObjectOf(reinterpret_cast<const void*>(&CallStack::Here));
    const void* const program = ObjectOf(reinterpret_cast<const void*>(getauxval(AT_ENTRY)));
    return own == program ? nullptr : own;
}

// Returns the place of the call, which is before its return address.
const char* CallBefore(void* address) { return static_cast<const char*>(address) - 1; }

}  // namespace

CallStack CallStack::Here() noexcept {
    CallStack stack;
    stack.frames = backtrace(stack.addresses, kMostFrames);
    return stack;
}

int CallStack::FirstShown() const {
    const void* const own = OwnSharedObject();
    // A sanitizer of the compiler may have put a function of its own before the library's frames.
    int frame =
        frames > 1 && ObjectOf(addresses[0]) != own && ObjectOf(addresses[1]) == own ? 1 : 0;
    while (own != nullptr && frame < frames && ObjectOf(addresses[frame]) == own) {
        ++frame;
    }
    return frame;
}

void CallStack::NameFrame(void* address, std::string* file, std::string* function) {
    Dl_info info{};
    if (dladdr(CallBefore(address), &info) == 0) {
        return;
    }
    *file = info.dli_fname != nullptr ? info.dli_fname : "";
    if (info.dli_sname != nullptr) {
        int status = 0;
        const std::unique_ptr<char, void (*)(void*)> plain(
            abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status), &std::free);
        *function = plain != nullptr ? plain.get() : info.dli_sname;
    }
}

std::string CallStack::EntryCall() const {
    std::string file;
    std::string function;
    const int shown = FirstShown();
    if (shown > 0) {
        NameFrame(addresses[shown - 1], &file, &function);
    }
    return function;
}

std::vector<const void*> CallStack::Shown(size_t most) const {
    std::vector<const void*> calls;
    for (int frame = FirstShown(); frame < frames && calls.size() < most; ++frame) {
        calls.push_back(CallBefore(addresses[frame]));
    }
    return calls;
}

std::vector<CallStack::Frame> CallStack::Frames(size_t most) const {
    const std::vector<SourcePlace> places = FindSourcePlaces(Shown(most));
    const int first = FirstShown();
    std::vector<Frame> named(places.size());
    for (size_t i = 0; i < places.size(); ++i) {
        NameFrame(addresses[first + static_cast<int>(i)], &named[i].file, &named[i].function);
        if (named[i].function.empty()) {
            named[i].function = places[i].function;
        }
        named[i].line = places[i].line;
    }
    return named;
}

std::vector<std::string> CallStack::Lines(size_t most) const {
    std::vector<std::string> lines;
    const int first = FirstShown();
    for (const Frame& frame : Frames(most)) {
        void* const address = addresses[first + static_cast<int>(lines.size())];
        if (frame.file.empty()) {
            lines.push_back(fmt::format("{}", address));
            continue;
        }
        const char* const call = CallBefore(address);
        const auto offset = static_cast<size_t>(call - static_cast<const char*>(ObjectOf(call)));
        lines.push_back(fmt::format("{}+{:#x}", frame.file, offset) +
                        (frame.function.empty() ? "" : " (" + frame.function + ")") +
                        (frame.line.empty() ? "" : " at " + frame.line));
    }
    return lines;
}

void CallStack::FindSources(const std::vector<const CallStack*>& stacks, size_t most) {
    std::vector<const void*> calls;
    for (const CallStack* const stack : stacks) {
        const std::vector<const void*> shown = stack->Shown(most);
        calls.insert(calls.end(), shown.begin(), shown.end());
    }
    (void)FindSourcePlaces(calls);
}

void CallStack::Write(size_t most) const noexcept {
    size_t written = 0;
    for (int frame = FirstShown(); frame < frames && written < most; ++frame, ++written) {
        const char* const call = CallBefore(addresses[frame]);
        Dl_info info{};
        const bool known = dladdr(call, &info) != 0 && info.dli_fname != nullptr;
        SignalLine line;
        line << "      " << (known ? info.dli_fname : "");
        const auto offset = static_cast<uint64_t>(call - static_cast<const char*>(info.dli_fbase));
        (known ? line << "+" : line).Address(known ? offset : reinterpret_cast<uintptr_t>(call));
        if (known && info.dli_sname != nullptr) {
            line << " (" << info.dli_sname << ")";
        }
        line.Write();
    }
}

CallStack CallStack::And(const CallStack& other) const {
    CallStack both;
    for (const CallStack* const stack : {this, &other}) {
        const int first = stack->FirstShown();
        const int taken = std::min(kMostFrames / 2, stack->frames - first);
        std::copy_n(stack->addresses + first, taken, both.addresses + both.frames);
        both.frames += taken;
    }
    return both;
}

uint64_t CallStack::Hash() const {
    uint64_t hash = 0;
    for (int frame = 0; frame < frames; ++frame) {
        hash = hash * 0x9E3779B97F4A7C15 + reinterpret_cast<uintptr_t>(addresses[frame]);
        hash ^= hash >> 29;
    }
    return hash;
}

bool CallStack::operator==(const CallStack& other) const {
    return std::equal(addresses, addresses + frames, other.addresses,
                      other.addresses + other.frames);
}

bool CallStack::operator<(const CallStack& other) const {
    return std::lexicographical_compare(addresses, addresses + frames, other.addresses,
                                        other.addresses + other.frames);
}

}  // namespace advstep
