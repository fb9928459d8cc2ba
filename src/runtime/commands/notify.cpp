// SPDX-License-Identifier: Apache-2.0
// Implements notifies: create, record, wait, reset, destroy.

#include "src/runtime/commands/notify.h"

#include <algorithm>
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/memory/memory_sharing.h"
#include "src/runtime/sanitizer/device_sanitizer.h"
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

bool TakeFlag(PollWaitTask& base) {
    Notify& notify = *static_cast<WaitNotifyTask&>(base).notify;
    base.recheck = notify.shared.load();  // another process wakes no thread of this one
    return notify.flag.load()->exchange(0) != 0;
}

WaitFacts ExplainNotifyWait(const PollWaitTask& base) {
    const Notify& notify = *static_cast<const WaitNotifyTask&>(base).notify;
    WaitFacts facts;
    facts.giver = notify.shared.load() ? WaitGiver::kUnknown : WaitGiver::kProcess;
    facts.holds = notify.flag.load()->load() != 0;
    facts.text = fmt::format("a record of notify {}", ToPointer(notify.handle.load()));
    return facts;
}

constexpr TaskType kWaitType = {nullptr, nullptr, kTouchesNothing.listMemory,
                                nullptr, false,   &ExplainNotifyWait};

// These list the notify, which must be alive at a replay.
void ListRecord(const void* source, std::vector<Use>* uses) {
    uses->push_back({Use::Kind::kNotify, "notify", source, 0});
    uses->back().signal = Use::Signal::kSets;
}

void ListWait(const void* source, std::vector<Use>* uses) {
    uses->push_back({Use::Kind::kNotify, "notify", source, 0});
    uses->back().signal = Use::Signal::kTakes;
}

}  // namespace

NotifyTable& TheNotifyTable() {
    static NeverDestroyed<NotifyTable> notifies;
    return *notifies;
}

// Frees the states of destroyed notifies that no work uses any more.
void NotifyTable::ReclaimLocked() {
    while (!retired_.empty() &&
           std::all_of(retired_.front().pending.begin(), retired_.front().pending.end(), Reached)) {
        retired_.front().notify->state.reset();
        table_.Release(retired_.front().notify);
        retired_.pop_front();
    }
}

Handle NotifyTable::Enter(Handle context, std::unique_ptr<SharedState> state, ResourceHold hold) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ReclaimLocked();
    const auto entry = table_.Acquire();
    entry.object->flag.store(static_cast<NotifyFlag*>(state->Get()));
    entry.object->shared.store(state->Imported());
    entry.object->state = std::move(state);
    {
        const std::lock_guard<std::mutex> queueing(entry.object->queueing);
        entry.object->hold = std::move(hold);
    }
    entry.object->context.store(context);
    entry.object->handle.store(entry.handle);
    return entry.handle;
}

Status NotifyTable::Create(Handle context, const Device* device, Handle* handle) {
    ResourceHold hold;
    ADVSTEP_RETURN_IF_ERROR(ResourceHold::Take(device, DeviceResource::kNotifies,
                                               ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, &hold));
    std::unique_ptr<SharedState> state;
    ADVSTEP_RETURN_IF_ERROR(SharedState::Make(sizeof(NotifyFlag), &state));
    *handle = Enter(context, std::move(state), std::move(hold));
    return {};
}

Status NotifyTable::Import(Handle context, const ShareKey& key, Handle* handle) {
    std::unique_ptr<SharedState> state;
    ADVSTEP_RETURN_IF_ERROR(
        SharedState::Import(ShareKind::kNotify, key, "key", sizeof(NotifyFlag), &state));
    *handle = Enter(context, std::move(state));
    return {};
}

Status NotifyTable::Export(const void* handle, bool open, ShareKey* key) {
    Notify* notify = nullptr;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(Find(handle, &notify));
        if (notify->state->Imported()) {
            return Error(
                ACL_ERROR_RT_PARAM_INVALID,
                "notify {} is of aclrtNotifyImportByKey; expected one of aclrtCreateNotify",
                handle);
        }
        ADVSTEP_RETURN_IF_ERROR(notify->state->Export(ShareKind::kNotify, open, key));
        notify->shared.store(true);
    }
    TheWorkers().Wake();  // they look at its waits again and again from now on
    return {};
}

Status NotifyTable::Allow(const void* handle, const int32_t* pids, size_t count) {
    Notify* notify = nullptr;
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(Find(handle, &notify));
    if (!notify->state->Exported()) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "notify {} is not exported; expected aclrtNotifyGetExportKey before", handle);
    }
    return notify->state->Allow(ShareKind::kNotify, pids, count, "notify's key");
}

// The flags stay while the lock is held, although another thread may destroy a notify.
Status NotifyTable::Reset(const void* const* handles, size_t count) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<NotifyFlag*> flags;
    for (size_t i = 0; i < count; ++i) {
        Notify* notify = nullptr;
        ADVSTEP_RETURN_IF_ERROR(Find(handles[i], &notify));
        if (SanitizingWork()) {
            TheDeviceSanitizer().Unset(handles[i]);
        }
        flags.push_back(notify->flag.load());
    }
    for (NotifyFlag* const flag : flags) {
        flag->store(0);
    }
    return {};
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

// Ends the life of the handle. False: another thread has done so.
bool NotifyTable::EndHandle(Notify* notify, Handle handle) {
    const std::unique_lock<std::shared_mutex> replays(replaying_);
    const std::lock_guard<std::mutex> queueing(notify->queueing);
    const bool ended = notify->handle.compare_exchange_strong(handle, 0);
    if (ended) {
        notify->hold.GiveBack();
    }
    return ended;
}

void NotifyTable::Retire(Notify* notify) {
    std::vector<Ticket> pending = PendingPlaces(nullptr);
    const std::lock_guard<std::mutex> lock(mutex_);
    retired_.push_back({notify, std::move(pending)});
    notify->state->Withdraw();
    ReclaimLocked();
}

Status NotifyTable::Destroy(const void* handle) {
    Notify* found = nullptr;
    ADVSTEP_RETURN_IF_ERROR(Find(handle, &found));
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): it was found
    if (!EndHandle(found, ToHandle(handle))) {
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
        const Handle handle = notify.handle.load();
        if (handle != 0 && (context == 0 || notify.context.load() == context) &&
            EndHandle(&notify, handle)) {
            try {
                Retire(&notify);
            } catch (const std::bad_alloc&) {
                // The place of the notify in the table is not used again.
            }
        }
    });
    // Notifies that were destroyed while work was pending are freed too, because their pages, which
    // other processes may map, must end with the device.
    const std::lock_guard<std::mutex> lock(mutex_);
    ReclaimLocked();
}

Status NotifyTable::Record(const void* handle, const StreamRef& stream) {
    Notify* notify = nullptr;
    ADVSTEP_RETURN_IF_ERROR(Find(handle, &notify));
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): it was found
    const std::lock_guard<std::mutex> queueing(notify->queueing);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));  // or its flag may be unmapped
    Work work(sizeof(RecordNotifyTask));
    work.listUses = &ListRecord;
    work.source = handle;
    return stream.Enqueue(work, [&](void* memory) {
        auto* const task = new (memory) RecordNotifyTask;
        task->name = "notify record";
        task->type = &kTouchesNothing;
        task->notify = notify;
        task->run = [](const Task& base) {
            static_cast<const RecordNotifyTask&>(base).notify->flag.load()->store(1);
            TheWorkers().Wake();  // waits for a flag are not woken by the progress of a stream
            return Status();
        };
        return task;
    });
}

Status NotifyTable::Wait(const void* handle, const StreamRef& stream, int64_t timeoutNanoseconds) {
    Notify* notify = nullptr;
    ADVSTEP_RETURN_IF_ERROR(Find(handle, &notify));
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): it was found
    const std::lock_guard<std::mutex> queueing(notify->queueing);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));  // or its flag may be unmapped
    Work work(sizeof(WaitNotifyTask));
    work.listUses = &ListWait;
    work.source = handle;
    return stream.Enqueue(work, [&](void* memory) {
        auto* const task = new (memory) WaitNotifyTask;
        task->name = "notify wait";
        task->type = &kWaitType;
        task->kind = TaskKind::kPollWait;
        task->timeoutNanoseconds = timeoutNanoseconds;
        task->notify = notify;
        task->holds = &TakeFlag;
        return task;
    });
}

}  // namespace advstep
