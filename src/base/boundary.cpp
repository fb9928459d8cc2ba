#include "src/base/boundary.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace advstep {
namespace {

constexpr size_t kMostMessageBytes = 1024;  // longer ones are cut

// Per thread, so no lock; plain bytes, so that calls from global destructors, after the thread's
// objects are gone, still find it. `handedOut` is what the caller holds while `recent` takes the
// next failure.
struct ErrorState {
    char recent[kMostMessageBytes];
    char handedOut[kMostMessageBytes];
    bool hasRecent;
    aclError lastError;
};

thread_local ErrorState errorState{};

void Append(const char* text, size_t* at) {
    const size_t length = std::min(std::strlen(text), kMostMessageBytes - 1 - *at);
    std::memcpy(errorState.recent + *at, text, length);
    *at += length;
    errorState.recent[*at] = '\0';
}

}  // namespace

int32_t RecordFailure(const char* call, int32_t code, const char* message) noexcept {
    size_t at = 0;
    Append(call, &at);
    Append(": ", &at);
    Append(message, &at);
    errorState.hasRecent = true;
    return code;
}

int32_t RecordFailure(const char* call, const Status& status) noexcept {
    return RecordFailure(call, status.code(), status.message().c_str());
}

aclError RecordAclFailure(const char* call, int32_t code, const char* message) noexcept {
    errorState.lastError = code;
    return RecordFailure(call, code, message);
}

const char* TakeRecentMessage() noexcept {
    if (!errorState.hasRecent) {
        return nullptr;
    }
    std::memcpy(errorState.handedOut, errorState.recent, kMostMessageBytes);
    errorState.hasRecent = false;
    return errorState.handedOut;
}

aclError PeekLastError() noexcept { return errorState.lastError; }

aclError TakeLastError() noexcept { return std::exchange(errorState.lastError, ACL_SUCCESS); }

KeepErrors::KeepErrors() noexcept
    : hasRecent_(errorState.hasRecent), lastError_(errorState.lastError) {
    if (hasRecent_) {
        std::memcpy(recent_, errorState.recent, kMostMessageBytes);
    }
    static_assert(sizeof(recent_) == kMostMessageBytes, "one size of messages");
}

KeepErrors::~KeepErrors() {
    if (hasRecent_) {
        std::memcpy(errorState.recent, recent_, kMostMessageBytes);
    }
    errorState.hasRecent = hasRecent_;
    errorState.lastError = lastError_;
}

}  // namespace advstep
