#pragma once

#include "src/base/status.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/stream/stream_ref.h"

namespace advstep {

/// The calling thread's current context. 107002: it has none, or it has been destroyed.
Status CurrentContext(ContextRef* current);

/// The same, or null where that fails; until the thread's next call of SetCurrentContext.
const ContextRef* LiveContext();

void SetCurrentContext(const ContextRef& context);

/// Makes a context the thread's current one, and the one before again when it goes.
class KeepCurrentContext {
 public:
    explicit KeepCurrentContext(const ContextRef& during);
    ~KeepCurrentContext();
    KeepCurrentContext(const KeepCurrentContext&) = delete;
    KeepCurrentContext& operator=(const KeepCurrentContext&) = delete;

 private:
    const ContextRef before_;
};

/// No current context any more if it is this one.
void ForgetCurrentContext(Handle context);

/// The stream of a handle, or with null the current context's default stream. Codes 107002 and
/// 107017. Whether it is alive and of this context is checked by every Stream call.
Status FindStream(const void* handle, StreamRef* stream);

}  // namespace advstep
