// SPDX-License-Identifier: Apache-2.0
// The boundary of an extern "C" call: failures and exceptions become a code and a message.

#pragma once

#include <exception>
#include <new>

#include "acl/acl_base.h"
#include "src/base/status.h"

namespace advstep {

/// Keeps the failure for aclGetRecentErrMsg as `<call>: <message>` and returns its code. It
/// allocates nothing, except at log level debug, which has a line for each failure.
int32_t RecordFailure(const char* call, int32_t code, const char* message) noexcept;
int32_t RecordFailure(const char* call, const Status& status) noexcept;

/// As RecordFailure. The code of a call of the runtime, aclrt or aclmdlRI, is kept for
/// aclrtGetLastError as well. Clients look there first, so the code of another call would stand in
/// for that of any later failure.
aclError RecordAclFailure(const char* call, int32_t code, const char* message) noexcept;
inline aclError RecordAclFailure(const char* call, const Status& status) noexcept {
    return RecordAclFailure(call, status.code(), status.message());
}

/// Keeps the thread's message and last error, and restores them when it is destroyed. It surrounds
/// functions of the program that the library calls on a thread of the program.
class ErrorStateScope {
 public:
    ErrorStateScope() noexcept;
    ~ErrorStateScope();
    ErrorStateScope(const ErrorStateScope&) = delete;
    ErrorStateScope& operator=(const ErrorStateScope&) = delete;

 private:
    char recent_[1024];
    bool hasRecent_;
    aclError lastError_;
};

/// Returns the message, or null if there is none, and clears it. The text is valid until the
/// thread's next call of this function.
const char* TakeRecentMessage() noexcept;

/// Drops the message, if there is one. It is for calls that begin an operator of any library: if
/// that one fails and leaves no message, an older one must not be taken for its.
void DropRecentMessage() noexcept;

aclError PeekLastError() noexcept;
aclError TakeLastError() noexcept;

/// Returns words for the exception of the `catch (...)` block that calls it: `unknown`, or words
/// for a pthread_exit in a function of the program, which is then stopped (StopThreadExit).
const char* TextOfCaught(const char* unknown) noexcept;

/// Returns the code with "<subject> threw an exception: <what>", or without words if the host is
/// out of memory. It is for exceptions of functions of the program.
Status ErrorOfThrown(int32_t code, const char* subject, const char* what) noexcept;

/// The body of an extern "C" acl or aclrt function: runs `body`, which returns a Status, and
/// converts its failure or an exception into a code and a message. `call` is the function's own
/// name.
template <typename Body>
aclError AclBoundary(const char* call, Body&& body) noexcept {
    try {
        const Status status = body();
        return status.ok() ? ACL_SUCCESS : RecordAclFailure(call, status);
    } catch (const std::bad_alloc&) {
        return RecordAclFailure(call, ACL_ERROR_BAD_ALLOC, "the host is out of memory");
    } catch (const std::exception& error) {
        return RecordAclFailure(call, ACL_ERROR_INTERNAL_ERROR, error.what());
    } catch (...) {
        return RecordAclFailure(call, ACL_ERROR_INTERNAL_ERROR, TextOfCaught("unknown exception"));
    }
}

/// As AclBoundary, for aclnn functions, which have codes of their own. `inner` is the code of
/// exceptions.
template <typename Body>
int32_t AclnnBoundary(const char* call, int32_t inner, Body&& body) noexcept {
    try {
        const Status status = body();
        return status.ok() ? 0 : RecordFailure(call, status);
    } catch (const std::exception& error) {
        return RecordFailure(call, inner, error.what());
    } catch (...) {
        return RecordFailure(call, inner, TextOfCaught("unknown exception"));
    }
}

/// 100000: the argument is null.
inline Status RequireNotNull(const void* pointer, const char* argument) {
    return pointer != nullptr
               ? Status()
               : Error(ACL_ERROR_INVALID_PARAM, "{} is null; expected a pointer", argument);
}

}  // namespace advstep
