// SPDX-License-Identifier: Apache-2.0
// Implements notifies: create, record, wait, reset, destroy.

#include "src/runtime/commands/notify.h"

#include <algorithm>
#include <new>

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/task/ticket.h"

namespace advstep {
namespace {

struct RecordNotifyTask : Task {
    Notify* notify;
};

struct WaitNotifyTask : PollWaitTask {
    Notify* notify;
};

// Lists the notify, which must be alive at a replay.
void ListNotify(const void* source, std::vector<Use>* uses) {
    uses->push_back({Use::Kind::kNotify, "notify", source, 0});
}

}  // namespace

NotifyTable& NotifyTable::Instance() {
    static NeverDestroyed<NotifyTable> notifies;
    return *notifies;
}

Handle NotifyTable::Create(Handle context) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto kept = std::partition(retired_.begin(), retired_.end(), [&](const Retired& old) {
            return !std::all_of(old.pending.begin(), old.pending.end(), Reached);
        });
        std::for_each(kept, retired_.end(),
                      [&](const Retired& old) { table_.Release(old.notify); });
        retired_.erase(kept, retired_.end());
    }
    const auto entry = table_.Acquire();
    entry.object->set.store(false);
    entry.object->context.store(context);
    entry.object->handle.store(entry.handle);
    return entry.handle;
}

Status NotifyTable::Find(const void* handle, Notify** notify) {
    Notify* const found = table_.Find(ToHandle(handle));
    if (found == nullptr || found->handle.load() != ToHandle(handle)) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "notify {} is no notify or has been destroyed; expected a live notify",
                     handle);
    }
    *notify = found;
    return {};
}

Status NotifyTable::CheckAlive(const void* handle) {
    Notify* found = nullptr;
    return Find(handle, &found);
}

void NotifyTable::Retire(Notify* notify) {
    std::vector<Ticket> pending = PendingPlaces(nullptr);
    const std::lock_guard<std::mutex> lock(mutex_);
    retired_.push_back({notify, std::move(pending)});
}

Status NotifyTable::Destroy(const void* handle) {
    Notify* found = nullptr;
    ADVSTEP_RETURN_IF_ERROR(Find(handle, &found));
    Handle expected = ToHandle(handle);
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): it was found
    if (!found->handle.compare_exchange_strong(expected, 0)) {
        return Find(handle, &found);  // another thread has destroyed it
    }
    try {
        Retire(found);
    } catch (...) {
        found->handle.store(ToHandle(handle));
        throw;
    }
    return {};
}

void NotifyTable::DestroyAllOf(Handle context) {
    table_.ForEach([&](Notify& notify) {
        Handle handle = notify.handle.load();
        if (handle != 0 && (context == 0 || notify.context.load() == context) &&
            notify.handle.compare_exchange_strong(handle, 0)) {
            try {
                Retire(&notify);
            } catch (const std::bad_alloc&) {
                // The place of the notify in the table is not used again.
            }
        }
    });
}

Status NotifyTable::Record(const void* handle, const StreamRef& stream) {
    Notify* notify = nullptr;
    ADVSTEP_RETURN_IF_ERROR(Find(handle, &notify));
    Work work(sizeof(RecordNotifyTask));
    work.listUses = &ListNotify;
    work.source = handle;
    return stream.Enqueue(work, [&](void* memory) {
        auto* const task = new (memory) RecordNotifyTask;
        task->name = "notify record";
        task->notify = notify;
        task->run = [](const Task& base) {
            static_cast<const RecordNotifyTask&>(base).notify->set.store(true);
            Workers().Wake();  // waits for a flag are not woken by the progress of a stream
            return Status();
        };
        return task;
    });
}

Status NotifyTable::Wait(const void* handle, const StreamRef& stream, int64_t timeoutNanoseconds) {
    Notify* notify = nullptr;
    ADVSTEP_RETURN_IF_ERROR(Find(handle, &notify));
    Work work(sizeof(WaitNotifyTask));
    work.listUses = &ListNotify;
    work.source = handle;
    return stream.Enqueue(work, [&](void* memory) {
        auto* const task = new (memory) WaitNotifyTask;
        task->name = "notify wait";
        task->kind = TaskKind::kPollWait;
        task->timeoutNanoseconds = timeoutNanoseconds;
        task->notify = notify;
        task->holds = [](PollWaitTask& base) {
            return static_cast<WaitNotifyTask&>(base).notify->set.exchange(false);
        };
        return task;
    });
}

}  // namespace advstep
