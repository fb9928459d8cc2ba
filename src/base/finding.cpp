// SPDX-License-Identifier: Apache-2.0
// Writes findings as text and as JSON.

#include "src/base/finding.h"

#include <fmt/core.h>

#include <algorithm>

#include "src/base/trace_event.h"

namespace advstep {
namespace {

constexpr size_t kMostFramesOfJson = 16;

}  // namespace

std::string* FindingFields::Begin(std::string_view name) {
    members_ += members_.empty() ? "" : ",";
    AppendJsonString(name, &members_);
    members_ += ":";
    return &members_;
}

void FindingFields::Add(std::string_view name, std::string_view text) {
    AppendJsonString(text, Begin(name));
}

void FindingFields::Add(std::string_view name, uint64_t number) {
    *Begin(name) += std::to_string(number);
}

void FindingFields::Add(std::string_view name, const FindingFields& fields) {
    *Begin(name) += "{" + fields.Json() + "}";
}

void FindingFields::Add(std::string_view name, const std::vector<std::string>& texts) {
    std::string* const json = Begin(name);
    *json += "[";
    for (size_t i = 0; i < texts.size(); ++i) {
        *json += i == 0 ? "" : ",";
        AppendJsonString(texts[i], json);
    }
    *json += "]";
}

void FindingFields::AddAddress(std::string_view name, const void* address) {
    Add(name, fmt::format("{}", address));
}

void Finding::Stack(std::string name, std::string heading, const CallStack& stack) {
    stacks_.push_back({std::move(name), std::move(heading), stack});
}

CallStack Finding::Site(size_t index) const {
    if (hasSites_) {
        return sites_[index];
    }
    return index < stacks_.size() ? stacks_[index].stack : CallStack{};
}

std::string Finding::Text() const {
    std::string text =
        fmt::format("advance_step sanitizer: {}: {}: {}\n", NameOf(check_), kind_, headline_);
    const size_t most = kMostLines - 1 - std::min(kMostLines - 1, stacks_.size());
    const size_t lines = std::min(lines_.size(), most);
    for (size_t i = 0; i < lines; ++i) {
        text += "  " + lines_[i] + "\n";
    }
    size_t room = most - lines;
    std::vector<const CallStack*> shown;
    for (const NamedStack& named : stacks_) {
        shown.push_back(&named.stack);
    }
    CallStack::FindSources(shown, kMostFramesOfJson);
    for (size_t i = 0; i < std::min(stacks_.size(), kMostLines - 1); ++i) {
        text += "  " + stacks_[i].heading + "\n";
        const std::vector<std::string> frames = stacks_[i].stack.Lines(room / (stacks_.size() - i));
        for (const std::string& frame : frames) {
            text += "      " + frame + "\n";
        }
        room -= frames.size();
    }
    return text;
}

std::string Finding::JsonLine(uint64_t count, size_t* countAt) const {
    FindingFields stacks;
    for (const NamedStack& named : stacks_) {
        if (!named.name.empty()) {
            stacks.Add(named.name, named.stack.AllLines(kMostFramesOfJson));
        }
    }
    FindingFields all;
    all.Add("check", NameOf(check_));
    all.Add("finding", kind_);
    all.Add("text", Text());
    std::string line = "{" + all.Json() + ",";
    if (!fields_.Json().empty()) {
        line += fields_.Json() + ",";
    }
    line += "\"stacks\":{" + stacks.Json() + "},\"count\":";
    *countAt = line.size();
    return line + fmt::format("{:<{}}}}\n", count, kCountRoom);
}

}  // namespace advstep
