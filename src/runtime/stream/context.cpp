// SPDX-License-Identifier: Apache-2.0
// Creates, finds and destroys contexts.

#include "src/runtime/stream/context.h"

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/stream/streams.h"

namespace advstep {
namespace {

struct ContextTable : HandleTable<Context> {
    ContextTable() : HandleTable(HandleKind::kContext) {}
};

}  // namespace

HandleTable<Context>& TheContexts() {
    static NeverDestroyed<ContextTable> contexts;
    return *contexts;
}

ContextRef CreateContext(Device* device, bool primary) {
    const auto entry = TheContexts().Acquire();
    ContextRef made;
    made.context = entry.object;
    made.handle = entry.handle;
    made.device = device;
    made.primary = primary;
    try {
        CreateDefaultStream(&made);
    } catch (...) {
        TheContexts().Release(entry.object);
        throw;
    }
    Context* const context = entry.object;
    context->device.store(device, std::memory_order_release);
    context->primary.store(primary, std::memory_order_release);
    context->stopOnFailure.store(false, std::memory_order_release);
    for (std::atomic<int64_t>& parameter : context->parameters) {
        parameter.store(Context::kParameterNotSet, std::memory_order_release);
    }
    context->defaultStream.store(made.defaultStream, std::memory_order_release);
    context->defaultStreamHandle.store(made.defaultStreamHandle, std::memory_order_release);
    context->handle.store(entry.handle, std::memory_order_release);
    return made;
}

Status FindContext(const void* handle, ContextRef* context) {
    ContextRef found;
    found.handle = ToHandle(handle);
    found.context = TheContexts().Find(found.handle);
    if (found.alive()) {
        found.device = found.context->device.load(std::memory_order_acquire);
        found.primary = found.context->primary.load(std::memory_order_acquire);
        found.defaultStream = found.context->defaultStream.load(std::memory_order_acquire);
        found.defaultStreamHandle =
            found.context->defaultStreamHandle.load(std::memory_order_acquire);
    }
    // The handle is compared again: values of a later life are published after this life's handle
    // was cleared.
    if (!found.alive()) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "context {} is no context or has been destroyed; expected a live context",
                     handle);
    }
    *context = found;
    return {};
}

}  // namespace advstep
