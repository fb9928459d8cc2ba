// SPDX-License-Identifier: Apache-2.0
// The places of streams at which events are recorded, and which of them somebody has waited for.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "src/base/call_stack.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/recorder.h"
#include "src/runtime/task/ticket.h"

namespace advstep {

/// An event that has ended without a use.
struct UnusedEvent {
    Handle event = 0;
    Handle stream = 0;  // of its last record
    CallStack stack;    // of that record
};

/// The end of some work of a stream. The events that are recorded one after another there, with
/// nothing between them, stand for the same work. RecordPlaces guards it.
struct RecordPlace {
    bool used = false;
    std::vector<UnusedEvent> ended;  // of which it is not known yet whether they are a mistake
};

/// The places of the records whose events live. It knows of which events a record without a use is
/// no mistake: another event of the same place has been used, since a wait for either orders the
/// same work (a library records one for the work and one for the future of its result); or another
/// record of the same call on the same stream has been used, since the last records of a loop are
/// left alone.
///
/// Any thread may call it. mutex_ guards everything; no lock is taken after it.
class RecordPlaces {
 public:
    using Place = std::shared_ptr<RecordPlace>;

    /// Enters a record of a stream, or of a capture if `captured` is a place there. Records of one
    /// stream come in order.
    Place Enter(const Ticket& ticket, const CapturePlace& captured);
    /// An event whose last record is of that place and call has been used.
    void Use(const Place& place, const CallStack& stack, Handle stream);
    /// An event has ended, or is recorded elsewhere. `unused`: it has ended and had no use; null:
    /// it had one, or lives. Returns the events that nobody can excuse any more.
    std::vector<UnusedEvent> Leave(Place place, const UnusedEvent* unused);

 private:
    static constexpr size_t kLeastSweep = 64;

    /// The last place of a stream, or of a branch of a capture.
    struct Last {
        std::weak_ptr<Recorder> capture;
        uint64_t number = 0;  // of the task in the stream, or in the branch
        std::weak_ptr<RecordPlace> place;
    };

    Last& LastOf(const Ticket& ticket, const CapturePlace& captured);
    bool CallIsUsed(const UnusedEvent& unused) const;
    void Sweep();

    std::mutex mutex_;
    std::map<std::pair<const void*, int32_t>, Last> last_;  // by stream or capture, and branch
    size_t sweepAt_ = kLeastSweep;
    std::set<std::pair<uint64_t, Handle>> usedCalls_;  // hash of the stack, stream
};

RecordPlaces& TheRecordPlaces();

}  // namespace advstep
