// SPDX-License-Identifier: Apache-2.0
// Whether anybody has ever made use of an event's records, for the sanitizer.

#pragma once

#include <memory>

#include "src/base/call_stack.h"
#include "src/base/sanitizer.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// The use of an event in its life. An event that was recorded, and that no call has ever waited
/// for, queried, synchronised or timed, is a finding when it ends. One use is enough: the last
/// records of a right program are often left alone. The event's lock guards it.
class EventUse {
 public:
    void Open() {
        used_ = false;
        recordedBy_.reset();
    }
    void Used() { used_ = true; }
    void Recorded() {
        if (Sanitizing(SanitizerCheck::kSync) && !used_) {
            recordedBy_ = std::make_unique<CallStack>(CallStack::Here());
        }
    }
    /// Tells it once if the event was recorded and never used.
    void End(Handle event) {
        if (__builtin_expect(recordedBy_ != nullptr, 0)) {
            Tell(event);
        }
    }

 private:
    void Tell(Handle event);

    bool used_ = false;
    std::unique_ptr<const CallStack> recordedBy_;  // the last record before the first use
};

}  // namespace advstep
