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
#include <cstring>
#include <functional>
#include <memory>
#include <utility>

#include "src/base/crash_signal.h"
#include "src/base/script_frames.h"
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

// Writes the first of the lines. Returns the next one, or null.
const char* WriteScriptLine(const char* lines) {
    const char* const end = std::strchr(lines, '\n');
    SignalLine line;
    line << "      ";
    for (const char* at = lines; *at != '\0' && at != end; ++at) {
        const char character[] = {*at, '\0'};
        line << character;
    }
    line.Write();
    return end == nullptr ? nullptr : end + 1;
}

}  // namespace

CallStack CallStack::Here() noexcept {
    CallStack stack;
    stack.frames = backtrace(stack.addresses, kMostFrames);
    stack.script = ScriptFramesHere();
    return stack;
}

CallStack CallStack::At(uintptr_t instruction) noexcept {
    CallStack stack = Here();
    void** const end = stack.addresses + stack.frames;
    void** const stopped = std::find(stack.addresses, end, reinterpret_cast<void*>(instruction));
    if (stopped != end) {
        std::copy(stopped, end, stack.addresses);
        stack.frames = static_cast<int>(end - stopped);
        stack.addresses[0] = reinterpret_cast<void*>(instruction + 1);  // as if it were a call
    }
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

std::vector<std::string> CallStack::ScriptLines(size_t most) const {
    std::vector<std::string> lines;
    std::string_view left = script != nullptr ? script : "";
    while (!left.empty() && lines.size() < most) {
        const size_t end = std::min(left.find('\n'), left.size());
        lines.emplace_back(left.substr(0, end));
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return lines;
}

// A line is "FILE:NUMBER in FUNCTION".
std::vector<CallStack::Frame> CallStack::ScriptParts() const {
    std::vector<Frame> parts;
    for (const std::string& line : ScriptLines(kMostFrames)) {
        const size_t name = std::min(line.rfind(" in "), line.size());
        const size_t number = line.rfind(':', name);
        parts.push_back({line.substr(0, number), line.substr(std::min(name + 4, line.size())), ""});
    }
    return parts;
}

std::vector<std::string> CallStack::Lines(size_t most) const {
    return script != nullptr ? ScriptLines(most) : CompiledLines(most);
}

std::vector<std::string> CallStack::AllLines(size_t most) const {
    std::vector<std::string> lines = ScriptLines(most);
    for (std::string& line : CompiledLines(most)) {
        lines.push_back(std::move(line));
    }
    return lines;
}

std::vector<std::string> CallStack::CompiledLines(size_t most) const {
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
        const std::vector<const void*> shown =
            stack->script == nullptr ? stack->Shown(most) : std::vector<const void*>();
        calls.insert(calls.end(), shown.begin(), shown.end());
    }
    (void)FindSourcePlaces(calls);
}

void CallStack::Write(size_t most) const noexcept {
    size_t written = 0;
    for (const char* line = script; line != nullptr && written < most; ++written) {
        line = WriteScriptLine(line);
    }
    for (int frame = script != nullptr ? frames : FirstShown(); frame < frames && written < most;
         ++frame, ++written) {
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
        const int taken = std::min(kMostFrames / 2 - 1, stack->frames - first);
        std::copy_n(stack->addresses + first, taken, both.addresses + both.frames);
        both.frames += taken;
        both.addresses[both.frames++] = const_cast<char*>(stack->script);  // for comparisons only
    }
    return both;
}

uint64_t CallStack::Hash() const {
    uint64_t hash = reinterpret_cast<uintptr_t>(script);
    for (int frame = 0; frame < frames; ++frame) {
        hash = hash * 0x9E3779B97F4A7C15 + reinterpret_cast<uintptr_t>(addresses[frame]);
        hash ^= hash >> 29;
    }
    return hash;
}

bool CallStack::operator==(const CallStack& other) const {
    return script == other.script && std::equal(addresses, addresses + frames, other.addresses,
                                                other.addresses + other.frames);
}

bool CallStack::operator<(const CallStack& other) const {
    if (script != other.script) {
        return std::less<const char*>()(script, other.script);
    }
    return std::lexicographical_compare(addresses, addresses + frames, other.addresses,
                                        other.addresses + other.frames);
}

}  // namespace advstep
