// SPDX-License-Identifier: Apache-2.0
// Whether anybody has ever made use of an event's records, for the sanitizer.

#pragma once

#include <memory>

#include "src/base/call_stack.h"
#include "src/base/sanitizer.h"
#include "src/runtime/commands/record_places.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// The use of an event in its life. An event that was recorded, and that no call has ever waited
/// for, queried, synchronised or timed, is a finding when it ends. One use is enough: the last
/// records of a right program are often left alone. RecordPlaces knows of other excuses, and the
/// finding may come when another event ends. An event whose times may be all that it is for is
/// none: frameworks measure each step, and read some. Without memory for the note, nothing is told.
/// The event's lock guards it.
class EventUse {
 public:
    /// `isTold`: false for an event that is no finding.
    void Open(bool isTold) {
        isTold_ = isTold;
        used_ = false;
        record_.reset();
    }
    void Used() noexcept {
        used_ = true;
        if (__builtin_expect(record_ != nullptr, 0)) {
            NoteUse();
        }
    }
    void Recorded(Handle stream, const Ticket& ticket, const CapturePlace& captured) noexcept {
        if (Sanitizing(SanitizerCheck::kSync)) {
            NoteRecord(stream, ticket, captured);
        }
    }
    /// Tells it once if the event was recorded and never used.
    void End(Handle event) noexcept {
        if (__builtin_expect(record_ != nullptr, 0)) {
            Leave(event);
        }
    }

 private:
    struct LastRecord {
        Handle stream;
        CallStack stack;
        RecordPlaces::Place place;
    };

    void NoteRecord(Handle stream, const Ticket& ticket, const CapturePlace& captured) noexcept;
    void NoteUse() noexcept;
    void Leave(Handle endOf) noexcept;

    bool isTold_ = true;
    bool used_ = false;
    std::unique_ptr<LastRecord> record_;  // of which no use is known
};

}  // namespace advstep
