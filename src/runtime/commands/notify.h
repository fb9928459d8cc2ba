// SPDX-License-Identifier: Apache-2.0
// A notify: a flag that one stream sets and another one waits for.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/stream/stream_ref.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/task.h"

namespace advstep {

/// A flag between streams: a record in a stream sets it, and a wait takes it. Objects are reused
/// (HandleTable) once the work that was queued when they were destroyed has run.
class Notify {
 public:
    std::atomic<Handle> handle{0};
    std::atomic<Handle> context{0};  // in which the notify was made
    std::atomic<bool> set{false};

    // These belong to the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;
};

/// All notifies. mutex_ guards the destroyed ones. Only the table's lock is taken under it.
class NotifyTable {
 public:
    static NotifyTable& Instance();

    Handle Create(Handle context);
    /// Destroys a notify. 107017: the handle is no live notify.
    Status Destroy(const void* handle);
    /// Destroys the notifies of the context (0: all notifies).
    void DestroyAllOf(Handle context);
    /// 107017: the handle is no live notify.
    Status CheckAlive(const void* handle);

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
    void Retire(Notify* notify);

    HandleTable<Notify> table_{HandleKind::kNotify};
    std::mutex mutex_;
    std::vector<Retired> retired_;
};

}  // namespace advstep
