// SPDX-License-Identifier: Apache-2.0
// What the sanitizer has found: the text for people and the fields for programs.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/call_stack.h"
#include "src/base/sanitizer_settings.h"

namespace advstep {

/// Members of a JSON object, in the order in which they were added.
class FindingFields {
 public:
    void Add(std::string_view name, std::string_view text);
    void Add(std::string_view name, const char* text) { Add(name, std::string_view(text)); }
    void Add(std::string_view name, uint64_t number);
    void Add(std::string_view name, const FindingFields& fields);
    void Add(std::string_view name, const std::vector<std::string>& texts);
    /// Adds an address as a text, "0x..", because it may be too large for a number of JSON.
    void AddAddress(std::string_view name, const void* address);

    /// Returns the members, with commas between them and without braces.
    const std::string& Json() const { return members_; }

 private:
    std::string* Begin(std::string_view name);

    std::string members_;
};

/// A finding. The text has at most kMostLines lines: the headline, the lines that were added, and
/// each call stack under a heading, of which as many frames are shown as there is room for.
class Finding {
 public:
    static constexpr size_t kMostLines = 15;

    /// `kind` is a word in snake_case, static text. `headline` says in one sentence what was found.
    Finding(SanitizerCheck check, const char* kind, std::string headline)
        : check_(check), kind_(kind), headline_(std::move(headline)) {}

    /// Adds a line of text after the headline.
    void Line(std::string text) { lines_.push_back(std::move(text)); }

    /// Adds a call stack. The text shows it under the heading, and "stacks" of the JSON line has it
    /// under the name: work, other, free, allocation; "": only the text shows it. Two findings of
    /// one kind are the same if their first two stacks are.
    void Stack(std::string name, std::string heading, const CallStack& stack);

    /// Makes two findings of one kind the same if these are, instead of their first two stacks.
    void Sites(const CallStack& first, const CallStack& second) {
        sites_[0] = first;
        sites_[1] = second;
        hasSites_ = true;
    }
    /// Returns the stack that tells the finding from others of its kind; 0: the first, 1: the
    /// second.
    CallStack Site(size_t index) const;

    /// The further fields of the JSON line.
    FindingFields& fields() { return fields_; }

    SanitizerCheck check() const { return check_; }
    const char* kind() const { return kind_; }

    struct NamedStack {
        std::string name;
        std::string heading;
        CallStack stack;
    };
    const std::vector<NamedStack>& stacks() const { return stacks_; }

    std::string Text() const;
    /// Returns the line as {..., "count":N<blanks>}. *countAt is the place of N, which has room for
    /// kCountRoom digits.
    static constexpr size_t kCountRoom = 20;
    std::string JsonLine(uint64_t count, size_t* countAt) const;

 private:
    const SanitizerCheck check_;
    const char* const kind_;
    const std::string headline_;
    std::vector<std::string> lines_;
    std::vector<NamedStack> stacks_;
    bool hasSites_ = false;
    CallStack sites_[2];
    FindingFields fields_;
};

}  // namespace advstep
