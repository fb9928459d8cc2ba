// SPDX-License-Identifier: Apache-2.0
// The current context of the calling thread, and handles resolved in it.

#pragma once

#include "src/base/status.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/stream/streams.h"

namespace advstep {

/// Finds the calling thread's current context, or asks the context maker for one. 107002: the
/// thread has none, or it has been destroyed. Other codes are the maker's.
Status CurrentContext(ContextRef* current);

/// Sets the context maker, a function that makes a context current for a thread without one. The
/// function returns 107002 if it has no context to give.
void SetContextMaker(Status (*make)());

/// Returns the current context, or null if the thread has none. The pointer is valid until
/// the thread changes its current context.
const ContextRef* LiveContext();

void SetCurrentContext(const ContextRef& context);

/// Makes a context the thread's current one, and restores the earlier one when it is destroyed
/// itself.
class CurrentContextScope {
 public:
    explicit CurrentContextScope(const ContextRef& during);
    ~CurrentContextScope();
    CurrentContextScope(const CurrentContextScope&) = delete;
    CurrentContextScope& operator=(const CurrentContextScope&) = delete;

 private:
    const ContextRef before_;
};

/// Leaves the thread without a current context if this is the current one.
void ForgetCurrentContext(Handle context);

/// Makes a context current as CurrentContext does, and then calls FindStream.
Status MakeCurrentAndFind(const void* handle, StreamRef* stream);

/// 107017: the handle can be no stream.
Status NoStream(const void* handle);

/// Finds the stream of a handle, or the current context's default stream if `handle` is null.
/// 107002: the thread has no current context. 107017: the handle can be no stream. Each call of
/// Stream checks whether the stream is alive and of this context.
inline Status FindStream(const void* handle, StreamRef* stream) {
    const ContextRef* const context = LiveContext();
    if (__builtin_expect(context == nullptr, 0)) {
        return MakeCurrentAndFind(handle, stream);
    }
    if (handle == nullptr) {
        *stream = {context->defaultStream, context->defaultStreamHandle, context->handle};
        return {};
    }
    Stream* const found = TheStreams().Find(ToHandle(handle));
    *stream = {found, ToHandle(handle), context->handle};
    return __builtin_expect(found != nullptr, 1) ? Status() : NoStream(handle);
}

}  // namespace advstep
