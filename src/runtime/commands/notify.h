// SPDX-License-Identifier: Apache-2.0
// A notify: a flag that one stream sets and another one waits for.

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/device/device_resources.h"
#include "src/runtime/memory/shared_state.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/task.h"

namespace advstep {

/// Not 0: set. It lies in memory that other processes may map.
using NotifyFlag = std::atomic<uint32_t>;
static_assert(NotifyFlag::is_always_lock_free, "processes share it");

/// A flag between streams: a record in a stream sets it, and a wait takes it. Objects are reused
/// (HandleTable) once the work that was queued when they were destroyed has run.
class Notify {
 public:
    std::atomic<Handle> handle{0};
    std::atomic<Handle> context{0};          // in which the notify was made
    std::atomic<NotifyFlag*> flag{nullptr};  // in `state`
    std::atomic<bool> shared{false};         // other processes may set the flag
    std::unique_ptr<SharedState> state;      // NotifyTable's lock guards it
    ResourceHold hold;                       // `queueing` guards it
    /// Held while work with the flag is queued, and while `handle` ends. So the destruction of the
    /// notify finds the work among the pending work. Locks of streams are taken under it.
    std::mutex queueing;

    // These belong to the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;
};

/// All notifies. mutex_ guards the destroyed ones, and the states of all. Only the table's lock and
/// those of shared memory are taken under it.
class NotifyTable {
 public:
    /// 207001: the host has no memory for it. 207005: the device has no more notifies, by the check
    /// of limits.
    Status Create(Handle context, const Device* device, Handle* handle);
    /// Opens a notify of another process. Codes as FetchShared.
    Status Import(Handle context, const ShareKey& key, Handle* handle);
    /// Exports a notify, or finds its key. 107017: the handle is no live notify. 107000: it is
    /// another process's.
    Status Export(const void* handle, bool open, ShareKey* key);
    /// Lets processes import it. 107017: as above. 107000: it is not exported, or there is no such
    /// process.
    Status Allow(const void* handle, const int32_t* pids, size_t count);
    /// Clears the flags at once, all or none. 107017: one is no live notify.
    Status Reset(const void* const* handles, size_t count);
    /// Destroys a notify. 107017: the handle is no live notify.
    Status Destroy(const void* handle);
    /// Destroys the notifies of the context (0: all notifies).
    void DestroyAllOf(Handle context);
    /// 107017: the handle is no live notify.
    Status CheckAlive(const void* handle);

    /// Keeps all notifies from being destroyed while it lives. A replay holds it from the check of
    /// its notifies until it is queued, so their destruction finds it among the pending work.
    using Pin = std::shared_lock<std::shared_mutex>;
    Pin PinAll() { return Pin(replaying_); }

    /// Queue a record of the notify, or a wait for it. 107017: the handle is no live notify. Codes
    /// also as Stream::Enqueue.
    Status Record(const void* handle, const StreamRef& stream);
    Status Wait(const void* handle, const StreamRef& stream, int64_t timeoutNanoseconds);

 private:
    struct Retired {
        Notify* notify;
        std::vector<Ticket> pending;
    };

    Status Find(const void* handle, Notify** notify);
    bool EndHandle(Notify* notify, Handle handle);
    Handle Enter(Handle context, std::unique_ptr<SharedState> state, ResourceHold hold = {});
    void Retire(Notify* notify);
    void ReclaimLocked();

    HandleTable<Notify> table_{HandleKind::kNotify};
    /// Replays share it while they are queued, and take the locks of models and streams under it. A
    /// thread that ends a handle holds it alone, and takes the notify's `queueing` under it.
    std::shared_mutex replaying_;
    std::mutex mutex_;
    std::deque<Retired> retired_;  // oldest first
};

NotifyTable& TheNotifyTable();

}  // namespace advstep
