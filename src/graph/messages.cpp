// SPDX-License-Identifier: Apache-2.0
// Keeps the messages of each thread, up to a limit.

#include "src/graph/messages.h"

#include <algorithm>
#include <deque>

namespace advstep::graph {
namespace {

// The limit bounds the memory of a program that never reads its messages.
constexpr size_t kMostLines = 1000;

thread_local std::deque<std::string> errors;
thread_local std::deque<std::string> warnings;

void Keep(std::deque<std::string>& lines, std::string line) {
    std::replace(line.begin(), line.end(), '\n', ' ');
    lines.push_back(std::move(line));
    if (lines.size() > kMostLines) {
        lines.pop_front();
    }
}

std::string Take(std::deque<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += text.empty() ? line : "\n" + line;
    }
    lines.clear();
    return text;
}

}  // namespace

ge::Status ReportError(const char* call, const Outcome& outcome) noexcept {
    if (!outcome.ok()) {
        try {
            Keep(errors, fmt::format("{}({}): {}: {}", outcome.kind().title, outcome.kind().code,
                                     call, outcome.text()));
        } catch (...) {  // memory is too short for the message; the status is still returned
        }
    }
    return outcome.status();
}

void ReportWarning(const std::string& line) { Keep(warnings, line); }

std::string TakeErrors() { return Take(errors); }

std::string TakeWarnings() { return Take(warnings); }

}  // namespace advstep::graph
