// SPDX-License-Identifier: Apache-2.0
// Keeps the last error and message of each thread.

#include "src/base/boundary.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/base/log.h"
#include "src/base/thread_exit.h"
#include "src/base/thread_memory.h"
#include "src/base/use_after_fork.h"

namespace advstep {
namespace {

constexpr size_t kMostMessageBytes = 1024;  // longer ones are cut

// The messages of a thread. `recent` is the next one; `handedOut` is the one that the caller has
// received and may still read.
struct ErrorTexts {
    char recent[kMostMessageBytes];
    char handedOut[kMostMessageBytes];
};

// The error of a thread. Each thread has its own, so it needs no lock. It is plain data, because
// global destructors may call the library after the thread's objects have been destroyed.
struct ErrorState {
    bool hasRecent;
    aclError lastError;
};

thread_local ErrorState errorState{};

constexpr char kNoMemory[] = "no memory was left to say more";

void Append(char* text, const char* more, size_t* at) {
    const size_t length = std::min(std::strlen(more), kMostMessageBytes - 1 - *at);
    std::memcpy(text + *at, more, length);
    *at += length;
    text[*at] = '\0';
}

bool IsOfRuntime(const char* call) {
    return std::strncmp(call, "aclrt", 5) == 0 || std::strncmp(call, "aclmdlRI", 8) == 0;
}

}  // namespace

int32_t RecordFailure(const char* call, int32_t code, const char* message) noexcept {
    if (ForkedFromUse()) {
        TellUseAfterFork(call);
    }
    if (ErrorTexts* const texts = ThreadMemory<ErrorTexts>(); texts != nullptr) {
        size_t at = 0;
        Append(texts->recent, call, &at);
        Append(texts->recent, ": ", &at);
        Append(texts->recent, message, &at);
    }
    errorState.hasRecent = true;
    Log(LogLevel::kDebug, "{} returned {}: {}", call, code, message);
    return code;
}

int32_t RecordFailure(const char* call, const Status& status) noexcept {
    return RecordFailure(call, status.code(), status.message());
}

aclError RecordAclFailure(const char* call, int32_t code, const char* message) noexcept {
    if (IsOfRuntime(call)) {
        errorState.lastError = code;
    }
    return RecordFailure(call, code, message);
}

void DropRecentMessage() noexcept { errorState.hasRecent = false; }

const char* TakeRecentMessage() noexcept {
    if (!errorState.hasRecent) {
        return nullptr;
    }
    errorState.hasRecent = false;
    ErrorTexts* const texts = ThreadMemory<ErrorTexts>();
    if (texts == nullptr) {
        return kNoMemory;
    }
    std::memcpy(texts->handedOut, texts->recent, kMostMessageBytes);
    return texts->handedOut;
}

aclError PeekLastError() noexcept { return errorState.lastError; }

aclError TakeLastError() noexcept { return std::exchange(errorState.lastError, ACL_SUCCESS); }

ErrorStateScope::ErrorStateScope() noexcept
    : hasRecent_(errorState.hasRecent), lastError_(errorState.lastError) {
    recent_[0] = '\0';
    if (const ErrorTexts* const texts = hasRecent_ ? ThreadMemory<ErrorTexts>() : nullptr;
        texts != nullptr) {
        std::memcpy(recent_, texts->recent, kMostMessageBytes);
    }
    static_assert(sizeof(recent_) == kMostMessageBytes, "one size of messages");
}

ErrorStateScope::~ErrorStateScope() {
    if (ErrorTexts* const texts = hasRecent_ ? ThreadMemory<ErrorTexts>() : nullptr;
        texts != nullptr) {
        std::memcpy(texts->recent, recent_, kMostMessageBytes);
    }
    errorState.hasRecent = hasRecent_;
    errorState.lastError = lastError_;
}

const char* TextOfCaught(const char* unknown) noexcept {
    return StopThreadExit() ? "it called pthread_exit; expected it to return" : unknown;
}

Status ErrorOfThrown(int32_t code, const char* subject, const char* what) noexcept {
    try {
        return Error(code, "{} threw an exception: {}", subject, what);
    } catch (...) {
        return Status(code);
    }
}

}  // namespace advstep
