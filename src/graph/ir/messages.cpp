// SPDX-License-Identifier: Apache-2.0
// Keeps the messages of each thread, up to a limit.

#include "src/graph/ir/messages.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string_view>

namespace advstep::graph {
namespace {

// The limit bounds the memory of a program that never reads its messages.
constexpr size_t kMostLines = 1000;

using Lines = std::deque<std::string>;

struct ThreadMessages {
    Lines errors;
    Lines warnings;
};

// The messages of a thread. The pointer and the flag have no destructors, so that a call from a
// destructor that runs later than the owner's finds a valid state. Destructors of a program's
// static objects may make such calls when the process ends, so the main thread keeps its messages.
// Another thread frees its messages, and has none from then on.
thread_local ThreadMessages* messages = nullptr;
thread_local bool isGone = false;

bool IsMainThread() { return syscall(SYS_gettid) == getpid(); }

struct Owner {
    ~Owner() {
        if (!IsMainThread()) {
            delete messages;
            messages = nullptr;
            isGone = true;
        }
    }
    void Touch() const {}
};
thread_local const Owner owner;

// Returns null if the thread is past the end of its messages.
ThreadMessages* Messages() {
    if (messages == nullptr && !isGone) {
        owner.Touch();  // registers the destructor
        messages = new ThreadMessages;
    }
    return messages;
}

void Append(Lines& lines, std::string line) {
    std::replace(line.begin(), line.end(), '\n', ' ');
    lines.push_back(std::move(line));
    if (lines.size() > kMostLines) {
        lines.pop_front();
    }
}

std::string Take(Lines ThreadMessages::*kind) {
    if (messages == nullptr) {
        return {};
    }
    Lines& lines = messages->*kind;
    std::string text;
    for (const std::string& line : lines) {
        text += text.empty() ? line : "\n" + line;
    }
    lines.clear();
    return text;
}

// Writes to standard error by one call, in the form of the runtime's log. Every log level except
// off includes errors. Only the environment is asked, because a run may fail before the runtime has
// read a settings file.
void WriteToLog(const std::string& line) {
    const char* const level = secure_getenv("ADVANCE_STEP_LOG");
    if (level != nullptr && std::string_view(level) == "off") {
        return;
    }
    const std::string text = fmt::format("advance_step error: {}\n", line);
    std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

ge::Status ReportError(const char* call, const Outcome& outcome) noexcept {
    if (!outcome.ok()) {
        try {
            const std::string line = fmt::format("{}({}): {}: {}", outcome.kind().title,
                                                 outcome.kind().code, call, outcome.text());
            WriteToLog(line);
            if (ThreadMessages* own = Messages(); own != nullptr) {
                Append(own->errors, line);
            }
        } catch (...) {  // memory is too short for the message; the status is still returned
        }
    }
    return outcome.status();
}

void ReportWarning(const std::string& line) {
    if (ThreadMessages* own = Messages(); own != nullptr) {
        Append(own->warnings, line);
    }
}

std::string TakeErrors() { return Take(&ThreadMessages::errors); }

std::string TakeWarnings() { return Take(&ThreadMessages::warnings); }

void DropMessages() noexcept {
    if (messages != nullptr) {
        messages->errors.clear();
        messages->warnings.clear();
    }
}

}  // namespace advstep::graph
