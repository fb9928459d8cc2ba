#include "src/runtime/current.h"

#include "acl/acl_base.h"
#include "src/base/fork.h"

namespace advstep {
namespace {

// Read by every call: initial-exec spares it a function call, at the price of some static TLS.
[[gnu::tls_model("initial-exec")]] thread_local ContextRef current;

Status NoContext() {
    return Error(ACL_ERROR_RT_CONTEXT_NULL,
                 "the thread has no current context; expected aclrtSetDevice, "
                 "aclrtCreateContext or aclrtSetCurrentContext before");
}

const ForkHook forgetCurrent([](void*) noexcept { current = ContextRef{}; });

}  // namespace

const ContextRef* LiveContext() { return current.alive() ? &current : nullptr; }

Status CurrentContext(ContextRef* result) {
    if (!current.alive()) {
        return NoContext();
    }
    *result = current;
    return {};
}

void SetCurrentContext(const ContextRef& context) { current = context; }

KeepCurrentContext::KeepCurrentContext(const ContextRef& during) : before_(current) {
    current = during;
}

KeepCurrentContext::~KeepCurrentContext() { current = before_; }

void ForgetCurrentContext(Handle context) {
    if (current.handle == context) {
        current = ContextRef{};
    }
}

Status FindContext(const void* handle, ContextRef* context) {
    ContextRef found;
    found.handle = ToHandle(handle);
    found.context = TheResources().contexts.Find(found.handle);
    if (found.alive()) {
        found.device = found.context->device.load(std::memory_order_acquire);
        found.primary = found.context->primary.load(std::memory_order_acquire);
        found.defaultStream = found.context->defaultStream.load(std::memory_order_acquire);
        found.defaultStreamHandle =
            found.context->defaultStreamHandle.load(std::memory_order_acquire);
    }
    // Again: values of a later life are published after this one's handle was cleared.
    if (!found.alive()) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "context {} is no context or has been destroyed; expected a live context",
                     handle);
    }
    *context = found;
    return {};
}

Status FindStream(const void* handle, StreamRef* stream) {
    const ContextRef* const context = LiveContext();
    if (context == nullptr) {
        return NoContext();
    }
    if (handle == nullptr) {
        *stream = {context->defaultStream, context->defaultStreamHandle, context->handle};
        return {};
    }
    const Handle number = ToHandle(handle);
    Stream* const found = TheResources().streams.Find(number);
    if (found == nullptr) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE, "stream {} is no stream; expected a live stream",
                     handle);
    }
    *stream = {found, number, context->handle};
    return {};
}

Status FindEvent(const void* handle, Event** event) {
    Event* const found = TheResources().events.Find(ToHandle(handle));
    if (found == nullptr) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE, "event {} is no event; expected a live event",
                     handle);
    }
    *event = found;
    return {};
}

}  // namespace advstep
