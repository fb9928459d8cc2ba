#include "src/base/boundary.h"

#include <string>

namespace advstep {
namespace {

// Per thread, so no lock. `handedOut` keeps the text that the caller holds while `recent` takes the
// next failure.
struct ErrorState {
    std::string recent;
    std::string handedOut;
    bool hasRecent = false;
    aclError lastError = ACL_SUCCESS;
};

thread_local ErrorState errorState;

}  // namespace

int32_t RecordFailure(const char* call, const Status& status) noexcept {
    try {
        errorState.recent = fmt::format("{}: {}", call, status.message());
    } catch (...) {
        errorState.recent.clear();  // no memory for the text: the code still tells
    }
    errorState.hasRecent = true;
    return status.code();
}

aclError RecordAclFailure(const char* call, const Status& status) noexcept {
    errorState.lastError = status.code();
    return RecordFailure(call, status);
}

const char* TakeRecentMessage() noexcept {
    if (!errorState.hasRecent) {
        return nullptr;
    }
    errorState.handedOut.swap(errorState.recent);
    errorState.recent.clear();
    errorState.hasRecent = false;
    return errorState.handedOut.c_str();
}

aclError PeekLastError() noexcept { return errorState.lastError; }

aclError TakeLastError() noexcept { return std::exchange(errorState.lastError, ACL_SUCCESS); }

}  // namespace advstep
