// SPDX-License-Identifier: Apache-2.0
// An event: its latest record in a stream, for which the host and other streams can wait.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/commands/event_board.h"
#include "src/runtime/commands/event_use.h"
#include "src/runtime/device/device_resources.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/task.h"

namespace advstep {

/// The call that made an event. The kinds differ in the meaning of an unrecorded event and in what
/// an event can do.
enum class EventKind { kCreate, kCreateWithFlag, kCreateExWithFlag };

/// The setting of an event of ACL_EVENT_EXTERNAL; not 0: it is set. It lies in a SharedState, which
/// outlives the event as long as queued work may use it.
using EventSetting = std::atomic<uint32_t>;

/// The waits of streams for an event: the last wait of each stream, until it has passed.
class EventWaits {
 public:
    /// Makes room for the next Add, which must not fail once the wait is queued.
    void Reserve() {
        waits_.erase(std::remove_if(waits_.begin(), waits_.end(), Passed), waits_.end());
        waits_.reserve(waits_.size() + 1);
    }
    void Add(const Ticket& wait) noexcept {
        const auto known = std::find_if(waits_.begin(), waits_.end(), [&](const Ticket& ticket) {
            return ticket.stream == wait.stream;
        });
        if (known != waits_.end()) {
            *known = wait;  // a stream passes its waits in order
        } else {
            waits_.push_back(wait);
        }
    }
    void Clear() { waits_.clear(); }
    bool AllPassed() const { return std::all_of(waits_.begin(), waits_.end(), Passed); }

 private:
    static bool Passed(const Ticket& ticket) { return ticket.stream->Reached(ticket.sequence); }

    std::vector<Ticket> waits_;
};

/// An event. Its records are tasks of streams, or of models, or they lie on an EventBoard. Objects
/// are reused (HandleTable). mutex_ guards everything. It may be held while a stream's lock is
/// taken, never the other way round.
class Event {
 public:
    struct Traits {
        EventKind kind = EventKind::kCreate;
        bool timing = true;
        bool waitable = true;
        bool measures = false;           // of ACL_EVENT_TIME_LINE: its times may be all it is for
        Handle context = 0;              // in which the event was made
        const Device* device = nullptr;  // of the context
        bool shared = false;             // of ACL_EVENT_IPC
        bool external = false;           // of ACL_EVENT_EXTERNAL
        uint32_t flag = 0;               // as its creator gave it
    };

    void Open(Handle handle, const Traits& traits, std::unique_ptr<EventBoard> board = nullptr,
              std::unique_ptr<SharedState> setting = nullptr, ResourceHold hold = {});
    Status Close(Handle handle);
    /// Closes the event if it is alive and of that context (0: any). True: it was closed.
    bool CloseIfOf(Handle context);
    /// Keeps all external events from being closed while it lives. A replay holds it from the check
    /// of its events until it is queued, so their end finds it among the pending work. The locks of
    /// models, events and streams are taken under it.
    using Pin = std::shared_lock<std::shared_mutex>;
    static Pin PinExternal() { return Pin(Replaying()); }
    /// Frees the shared states of events that were closed while work was pending, if that has run.
    static void ReclaimStates() noexcept;
    /// Tells the sanitizer if the event was recorded and has had no use so far.
    void ReportUnused();

    /// 107017: the handle is of no live event.
    Status Check(Handle handle);

    /// Queues a record, which becomes the latest one.
    Status Record(Handle handle, const StreamRef& stream);
    /// Makes later work of the stream wait for the latest record.
    Status WaitOn(Handle handle, const StreamRef& stream, int64_t timeoutNanoseconds = 0);
    /// Queues a reset, after which the event counts as unrecorded.
    Status Reset(Handle handle, const StreamRef& stream);

    /// Records, or waits for, the event in a capture as a task of the model (ModelEvents). 107029:
    /// the stream is not being captured. 207000: the event has other flags than ACL_EVENT_SYNC, or
    /// the capture fills a sub-graph. 107000: the event is in the capture already, or has been
    /// recorded (waited for) by a call without ACL_EVENT_RECORD_EXTERNAL (_WAIT_).
    Status RecordInModel(Handle handle, const StreamRef& stream);
    Status WaitInModel(Handle handle, const StreamRef& stream);

    /// Finds the place of the latest record. Its stream is null if there is no record, or a reset
    /// has run since. 107028: the latest record is in a capture.
    Status LatestRecord(Handle handle, Ticket* ticket);

    struct State {
        EventKind kind = EventKind::kCreate;
        bool timing = false;
        bool recorded = false;  // false after a reset has run
        bool complete = false;
        int64_t nanoseconds = 0;  // when the record was reached; valid with timing and complete
        bool stamped = false;     // false if the record was dropped
        bool waitsPassed = true;  // true if no stream waits for the event any more
        bool shared = false;      // of ACL_EVENT_IPC
    };
    /// 107028: the latest record is in a capture.
    Status Read(Handle handle, State* state);

    /// Exports an event of ACL_EVENT_IPC. 107000: the event has no such flag, or it was opened from
    /// a handle.
    Status Export(Handle handle, ShareKey* key);
    /// Waits for the latest record of an event of ACL_EVENT_IPC, also of other processes. *own: the
    /// place of a record of this process; its stream is null if there is none. *shared: false for
    /// other events, and nothing has been done. 107022: aclrtDeviceTaskAbort aborts the event's
    /// device meanwhile. Codes also as WaitFor.
    Status SynchronizeShared(Handle handle, const WaitLimit& limit, bool* shared, Ticket* own);

    // These belong to the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;

 private:
    friend class ModelEvents;
    struct RecordTask;
    /// How calls record, or wait for, the event. The first call fixes it.
    enum class Usage : uint8_t { kNone, kInStream, kInModel };

    static std::shared_mutex& Replaying();
    bool IsExternal(Handle handle);
    Status CheckAlive(Handle handle) const;
    void RetireStates();

    static Status RunRecord(const Task& task);
    Status FixUsage(Usage* fixed, Usage usage, const char* what) const;
    Status CheckCanReset() const;
    bool ResetHasRun() const;
    bool Captured() const;
    Status CheckNotCaptured() const;

    Status WaitOnUnrecorded(const StreamRef& stream) const;
    Status WaitOnRecord(const StreamRef& stream, int64_t timeoutNanoseconds);
    Status CheckInModel(const StreamRef& stream) const;
    /// Records an event of ACL_EVENT_IPC.
    Status RecordShared(const StreamRef& stream);

    // Events of ACL_EVENT_EXTERNAL have functions of their own.
    Status RecordExternal(const StreamRef& stream);
    Status WaitOnExternal(const StreamRef& stream, int64_t timeoutNanoseconds);
    Status ResetExternal(const StreamRef& stream);
    EventSetting* Setting() const { return static_cast<EventSetting*>(setting_->Get()); }

    std::mutex mutex_;
    Handle handle_ = 0;
    Traits traits_;
    ResourceHold hold_;
    EventUse use_;
    Ticket record_;          // stream null: none
    Ticket reset_;           // of a reset after the latest record
    CapturePlace captured_;  // the latest record, if it is in a capture
    // The number of the latest record. A task of an earlier record or life has another one.
    uint64_t recordNumber_ = 0;
    int64_t nanoseconds_ = 0;
    bool stamped_ = false;
    EventWaits waits_;
    std::unique_ptr<EventBoard> board_;     // of an event of ACL_EVENT_IPC
    uint64_t boardNumber_ = 0;              // of record_, on the board
    std::unique_ptr<SharedState> setting_;  // an EventSetting, of an event of ACL_EVENT_EXTERNAL
    Usage recordUsage_ = Usage::kNone;
    Usage waitUsage_ = Usage::kNone;
    bool everRecorded_ = false;  // of an event of ACL_EVENT_EXTERNAL
};

/// Never destroyed: queued work may outlive main().
HandleTable<Event>& TheEvents();

/// Finds the event of a handle. 107017: the handle can be no event. Each call of Event checks
/// whether the event is alive.
Status FindEvent(const void* handle, Event** event);

/// The timeout of later aclrtStreamWaitEvent calls, in seconds. 0: for ever.
std::atomic<uint32_t>& EventWaitSeconds();

/// The events through which a model and streams outside it wait for each other, while one of its
/// replays is queued. They are locked, so that no other record of an event comes between the
/// queueing of its record and Recorded. Events are locked in the order of their addresses, so that
/// two replays cannot wait for each other, and before any stream.
class ModelEvents {
 public:
    /// Adds an event. It is called before Lock.
    void Add(const void* event);
    /// 107017: an event has been destroyed.
    Status Lock();
    bool Any() const { return !events_.empty(); }

    /// Makes the task wait for the event's latest record. `stream`: any stream, for an event that
    /// has no record to wait for.
    void FillWait(const void* event, Stream* stream, TicketWaitTask* task) const;
    void FillRecord(const void* event, Task* task) const;
    /// Makes the filled record the event's latest one, after it has been queued.
    void Recorded(const void* event, const Ticket& place) const;

 private:
    std::vector<std::pair<Event*, Handle>> events_;
    std::vector<std::unique_lock<std::mutex>> locks_;
};

}  // namespace advstep
