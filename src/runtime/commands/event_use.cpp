// SPDX-License-Identifier: Apache-2.0
// Tells of events that nobody ever waited for.

#include "src/runtime/commands/event_use.h"

#include <exception>
#include <new>
#include <string>

#include "src/base/sanitizer_scope.h"

namespace advstep {

void EventUse::Note(Handle stream) noexcept {
    const SanitizerScope own;
    record_.reset(new (std::nothrow) LastRecord{stream, CallStack::Here()});
}

void EventUse::Tell(Handle event) noexcept {
    const SanitizerScope own;
    const std::unique_ptr<const LastRecord> record = std::move(record_);
    if (used_ || !Sanitizing(SanitizerCheck::kSync)) {
        return;
    }
    try {
        const std::string call = record->stack.EntryCall();
        Finding finding(
            SanitizerCheck::kSync, "event_never_waited",
            fmt::format("event {} was recorded in stream {} by {}, and nobody ever waited for it, "
                        "queried, synchronised or timed it",
                        ToPointer(event), ToPointer(record->stream),
                        call.empty() ? "a call" : call));
        finding.Line("expected a wait of another stream or of the host for it, or no record");
        finding.Stack("work", "the last record:", record->stack);
        finding.fields().AddAddress("event", ToPointer(event));
        finding.fields().AddAddress("stream", ToPointer(record->stream));
        finding.fields().Add("call", call);
        Report(finding);
    } catch (const std::exception&) {
    }
}

}  // namespace advstep
