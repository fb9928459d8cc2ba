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

/// A flag between streams: recording it in a stream sets it, a wait takes it. Objects are reused
/// (HandleTable) once the work that was queued when they were destroyed has run.
class Notify {
 public:
    std::atomic<Handle> handle{0};
    std::atomic<Handle> context{0};  // in which it was made
    std::atomic<bool> set{false};

    // Of the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;
};

/// All notifies. mutex_ guards the destroyed ones; no lock but the table's is taken under it.
class NotifyTable {
 public:
    static NotifyTable& Instance();

    Handle Create(Handle context);
    /// 107017.
    Status Destroy(const void* handle);
    /// Those of the context (all: 0).
    void DestroyAllOf(Handle context);
    /// 107017 if the handle is no live notify.
    Status CheckAlive(const void* handle);

    /// Codes: 107017; those of Stream::Enqueue.
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
