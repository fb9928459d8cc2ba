// SPDX-License-Identifier: Apache-2.0
// Stores the current context of each thread, and finds streams and events for calls.

#include "src/runtime/stream/current.h"

#include <atomic>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/fork.h"
#include "src/runtime/stream/streams.h"

namespace advstep {
namespace {

// Every call reads it: initial-exec saves a function call, at the price of some static TLS.
[[gnu::tls_model("initial-exec")]] thread_local ContextRef current;

Status NoContext() {
    return Error(ACL_ERROR_RT_CONTEXT_NULL,
                 "the thread has no current context; expected aclrtSetDevice, "
                 "aclrtCreateContext or aclrtSetCurrentContext before");
}

std::atomic<Status (*)()> contextMaker{nullptr};

// Makes a context current for the thread, if a setting gives one to every thread.
Status MakeCurrent() {
    Status (*const make)() = contextMaker.load(std::memory_order_acquire);
    Status made = make != nullptr ? make() : NoContext();
    return made.code() == ACL_ERROR_RT_CONTEXT_NULL ? NoContext() : std::move(made);
}

const ForkHook forgetCurrent([](void*) noexcept { current = ContextRef{}; });

}  // namespace

const ContextRef* LiveContext() { return current.alive() ? &current : nullptr; }

Status CurrentContext(ContextRef* result) {
    if (!current.alive()) {
        ADVSTEP_RETURN_IF_ERROR(MakeCurrent());
    }
    *result = current;
    return {};
}

void SetContextMaker(Status (*make)()) { contextMaker.store(make, std::memory_order_release); }

void SetCurrentContext(const ContextRef& context) { current = context; }

CurrentContextScope::CurrentContextScope(const ContextRef& during) : before_(current) {
    current = during;
}

CurrentContextScope::~CurrentContextScope() { current = before_; }

void ForgetCurrentContext(Handle context) {
    if (current.handle == context) {
        current = ContextRef{};
    }
}

Status MakeCurrentAndFind(const void* handle, StreamRef* stream) {
    ADVSTEP_RETURN_IF_ERROR(MakeCurrent());
    // Another thread may have destroyed it since.
    return current.alive() ? FindStream(handle, stream) : NoContext();
}

Status NoStream(const void* handle) {
    return Error(ACL_ERROR_RT_INVALID_HANDLE, "stream {} is no stream; expected a live stream",
                 handle);
}

}  // namespace advstep
