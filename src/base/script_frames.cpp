// SPDX-License-Identifier: Apache-2.0
// Asks the interpreter for its lines, and keeps each text once.

#include "src/base/script_frames.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>

#include "src/base/sanitizer_scope.h"

namespace advstep {
namespace {

constexpr size_t kMostCharacters = 1024;
constexpr size_t kLists = 4096;
constexpr size_t kMostTexts = size_t{1} << 16;  // a program that makes code for ever gets no more

// A text that was met. Nothing changes or frees it, so readers need no lock.
struct Kept {
    std::string text;
    const Kept* next;  // changes only before others can see the text
};

std::atomic<ScriptFrames> framesOfScript{nullptr};
std::atomic<const Kept*> textLists[kLists];
std::atomic<size_t> textCount{0};

const Kept* Find(const Kept* from, const Kept* to, std::string_view text) {
    while (from != to && from->text != text) {
        from = from->next;
    }
    return from == to ? nullptr : from;
}

const char* Keep(std::string_view text) {
    std::atomic<const Kept*>& list = textLists[std::hash<std::string_view>()(text) % kLists];
    const Kept* first = list.load(std::memory_order_acquire);
    if (const Kept* const found = Find(first, nullptr, text); found != nullptr) {
        return found->text.c_str();
    }
    if (textCount.load(std::memory_order_relaxed) >= kMostTexts) {
        return nullptr;
    }
    auto* const made = new Kept{std::string(text), first};
    while (!list.compare_exchange_weak(first, made, std::memory_order_acq_rel)) {
        if (const Kept* const found = Find(first, made->next, text); found != nullptr) {
            delete made;
            return found->text.c_str();
        }
        made->next = first;
    }
    textCount.fetch_add(1, std::memory_order_relaxed);
    return made->text.c_str();
}

}  // namespace

void SetScriptFrames(ScriptFrames frames) noexcept {
    framesOfScript.store(frames, std::memory_order_release);
}

const char* ScriptFramesHere() noexcept {
    const ScriptFrames frames = framesOfScript.load(std::memory_order_acquire);
    if (frames == nullptr) {
        return nullptr;
    }
    const SanitizerScope own;
    char text[kMostCharacters];
    const size_t written = std::min(frames(text, sizeof(text)), sizeof(text));
    try {
        return written == 0 ? nullptr : Keep({text, written});
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

}  // namespace advstep
