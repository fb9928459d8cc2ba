// SPDX-License-Identifier: Apache-2.0
// Holds operators back, and joins messages.

#include "src/hccl/operation_group.h"

#include <unistd.h>

#include <utility>
#include <vector>

#include "acl/acl.h"

namespace advstep::hccl {
namespace {

struct Held {
    std::unique_ptr<Operation> operation;
    aclrtStream stream;
    aclrtContext context;  // that was current
};

struct ThreadGroup {
    int depth = 0;
    pid_t process = 0;  // that began it
    std::vector<Held> held;
};
thread_local ThreadGroup threadGroup;

// A child of a fork has no group of its parent, and leaves the operators alone, whose communicators
// are the parent's.
ThreadGroup& TheGroup() {
    if (threadGroup.depth > 0 && threadGroup.process != getpid()) {
        for (Held& each : threadGroup.held) {
            (void)each.operation.release();
        }
        threadGroup.held.clear();
        threadGroup.depth = 0;
    }
    return threadGroup;
}

// Adds the messages of an operator to an earlier one of the same communicator and stream.
bool Join(std::vector<Held>* joined, Held* next) {
    auto* const messages = dynamic_cast<MessageOperation*>(next->operation.get());
    if (messages == nullptr) {
        return false;
    }
    for (Held& each : *joined) {
        auto* const earlier = dynamic_cast<MessageOperation*>(each.operation.get());
        if (earlier != nullptr && each.stream == next->stream &&
            &earlier->communicator() == &messages->communicator()) {
            earlier->Absorb(messages);
            return true;
        }
    }
    return false;
}

// The end of a group queues operators of several devices, and leaves the thread with its context.
class CurrentContext {
 public:
    CurrentContext() { (void)aclrtGetCurrentContext(&before_); }
    ~CurrentContext() {
        if (before_ != nullptr) {
            (void)aclrtSetCurrentContext(before_);
        }
    }
    CurrentContext(const CurrentContext&) = delete;
    CurrentContext& operator=(const CurrentContext&) = delete;

    aclrtContext get() const { return before_; }

 private:
    aclrtContext before_ = nullptr;
};

Outcome LaunchIn(Held* held) {
    if (aclrtSetCurrentContext(held->context) != ACL_SUCCESS) {
        return {HCCL_E_RUNTIME, "the context of an operator of the group has ended"};
    }
    return Operation::Launch(std::move(held->operation), held->stream);
}

}  // namespace

bool OperationGroup::IsOpen() { return TheGroup().depth > 0; }

void OperationGroup::Start() {
    ThreadGroup& group = TheGroup();
    group.process = getpid();
    ++group.depth;
}

void OperationGroup::Hold(std::unique_ptr<Operation> operation, aclrtStream stream) {
    TheGroup().held.push_back({std::move(operation), stream, CurrentContext().get()});
}

Outcome OperationGroup::End() {
    ThreadGroup& group = TheGroup();
    if (group.depth == 0) {
        return {HCCL_E_PARA, "no group is open; expected HcclGroupStart before"};
    }
    if (--group.depth > 0) {
        return {};
    }
    std::vector<Held> held = std::exchange(group.held, {});
    std::vector<Held> joined;
    joined.reserve(held.size());
    for (Held& each : held) {
        if (!Join(&joined, &each)) {
            joined.push_back(std::move(each));
        }
    }
    const CurrentContext restored;
    for (Held& each : joined) {
        ADVSTEP_HCCL_TRY(LaunchIn(&each));
    }
    return {};
}

}  // namespace advstep::hccl
