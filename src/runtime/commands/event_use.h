// SPDX-License-Identifier: Apache-2.0
// Whether anybody has ever made use of an event's records, for the sanitizer.

#pragma once

#include <memory>

#include "src/base/call_stack.h"
#include "src/base/sanitizer.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// The use of an event in its life. An event that was recorded, and that no call has ever waited
/// for, queried, synchronised or timed, is a finding when it ends, but for one whose times may be
/// all that it is for: frameworks measure each step, and read some. One use is enough: the last
/// records of a right program are often left alone. Without memory for the note, nothing is told.
/// The event's lock guards it.
class EventUse {
 public:
    void Open() {
        used_ = false;
        record_.reset();
    }
    void Used() { used_ = true; }
    void Recorded(Handle stream) noexcept {
        if (Sanitizing(SanitizerCheck::kSync) && !used_) {
            Note(stream);
        }
    }
    /// Tells it once if the event was recorded and never used.
    void End(Handle event) noexcept {
        if (__builtin_expect(record_ != nullptr, 0)) {
            Tell(event);
        }
    }

 private:
    struct LastRecord {
        Handle stream;
        CallStack stack;
    };

    void Note(Handle stream) noexcept;
    void Tell(Handle event) noexcept;

    bool used_ = false;
    std::unique_ptr<const LastRecord> record_;  // before the first use
};

}  // namespace advstep
