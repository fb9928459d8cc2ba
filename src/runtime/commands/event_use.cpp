// SPDX-License-Identifier: Apache-2.0
// Tells of events that nobody ever waited for.

#include "src/runtime/commands/event_use.h"

#include <fmt/core.h>

namespace advstep {

void EventUse::Tell(Handle event) {
    if (!used_ && Sanitizing(SanitizerCheck::kSync)) {
        Finding finding(
            SanitizerCheck::kSync, "event_never_waited",
            fmt::format("event {} was recorded, and nobody ever waited for it, queried, "
                        "synchronised or timed it",
                        ToPointer(event)));
        finding.Line("expected a wait of another stream or of the host for it, or no record");
        finding.Stack("work", "the last record:", *recordedBy_);
        finding.fields().AddAddress("event", ToPointer(event));
        Report(finding);
    }
    recordedBy_.reset();
}

}  // namespace advstep
