// SPDX-License-Identifier: Apache-2.0
// Ends models: by a call, or with their context.
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/runtime/capture/condition.h"
#include "src/runtime/capture/model.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/task/ticket.h"
#include "src/runtime/task/wait_limit.h"

namespace advstep {
namespace {

// Waits for the end of a replay. False: the calling thread cannot wait, because a callback that it
// has to run comes first.
bool WaitedFor(const Ticket& end) noexcept {
    try {
        return WaitFor(end, ToTheEnd()).ok();
    } catch (const std::bad_alloc&) {
        return false;  // there was no memory for the message
    }
}

}  // namespace

const Ticket* Model::Pending() const {
    for (const Ticket& end : replays_) {
        if (!Reached(end)) {
            return &end;
        }
    }
    for (const Branch& branch : branches_) {
        if (branch.end.stream != nullptr && !Reached(branch.end)) {
            return &branch.end;
        }
    }
    return nullptr;
}

ModelBody Model::CloseLocked() {
    handle_ = 0;
    owner_ = nullptr;
    captured_ = false;
    plain_ = false;
    session_ = nullptr;
    branches_.clear();
    executions_.clear();
    replays_.clear();
    return std::exchange(body_, ModelBody{});
}

// Nothing is queued there. The call fails if the context is being destroyed, which destroys the
// streams too.
void Model::DestroyOwn(Stream* stream, Handle streamHandle) const {
    if (stream != nullptr) {
        (void)DestroyStream({stream, streamHandle, context_.handle}, false);
    }
}

void Model::DestroyStreams(const std::vector<Branch>& branches) const {
    for (const Branch& branch : branches) {
        DestroyOwn(branch.stream, branch.streamHandle);
    }
}

Status Model::Close(Handle handle) {
    std::unique_lock<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckWhole(handle, "destroyed"));
    ADVSTEP_RETURN_IF_ERROR(CheckUsable(handle));
    // A thread in Execute may not have looked at a replay that has ended.
    if (Pending() != nullptr || Awaited()) {
        return Error(
            ACL_ERROR_RT_MODEL_RUNNING,
            "modelRI {} has a replay that has not ended; expected a synchronisation before",
            ToPointer(handle));
    }
    DestroyStreams(branches_);
    for (const Execution& execution : executions_) {
        DestroyOwn(execution.stream, execution.streamHandle);
    }
    const ModelBody body = CloseLocked();
    lock.unlock();
    ReleaseParts(body);
    return {};
}

bool Model::CloseIfOf(Handle context, Handle handle, bool parts) {
    const auto is = [&] {
        return handle_ != 0 && context_.handle == context && (handle == 0 || handle_ == handle) &&
               (parts || owner_ == nullptr);
    };
    std::unique_lock<std::mutex> lock(mutex_);
    // Replays may have been queued after the end of the context had waited for its streams. They
    // refer to the groups and conditions of the body.
    for (const Ticket* pending = nullptr; is() && (pending = Pending()) != nullptr;) {
        const Ticket end = *pending;
        lock.unlock();
        if (!WaitedFor(end)) {
            return false;
        }
        lock.lock();
    }
    if (!is()) {
        return false;
    }
    const ModelBody body = CloseLocked();
    lock.unlock();
    ReleaseParts(body);
    return true;
}

}  // namespace advstep
