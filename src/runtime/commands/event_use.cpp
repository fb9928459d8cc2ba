// SPDX-License-Identifier: Apache-2.0
// Tells of events that nobody ever waited for.

#include "src/runtime/commands/event_use.h"

#include <exception>
#include <string>
#include <utility>

#include "src/base/sanitizer_scope.h"

namespace advstep {
namespace {

void Tell(const UnusedEvent& unused) {
    const std::string call = unused.stack.EntryCall();
    Finding finding(
        SanitizerCheck::kSync, "event_never_waited",
        fmt::format("event {} was recorded in stream {} by {}, and nobody ever waited for it, "
                    "queried, synchronised or timed it",
                    ToPointer(unused.event), ToPointer(unused.stream),
                    call.empty() ? "a call" : call));
    finding.Line("expected a wait of another stream or of the host for it, or no record");
    finding.Stack("work", "the last record:", unused.stack);
    finding.fields().AddAddress("event", ToPointer(unused.event));
    finding.fields().AddAddress("stream", ToPointer(unused.stream));
    finding.fields().Add("call", call);
    Report(finding);
}

}  // namespace

void EventUse::NoteRecord(Handle stream, const Ticket& ticket,
                          const CapturePlace& captured) noexcept {
    const SanitizerScope own;
    try {
        auto record = std::make_unique<LastRecord>();
        record->stream = stream;
        record->stack = CallStack::Here();
        record->place = TheRecordPlaces().Enter(ticket, captured);
        Leave(0);
        record_ = std::move(record);
    } catch (const std::exception&) {
        record_.reset();
    }
}

void EventUse::NoteUse() noexcept {
    const SanitizerScope own;
    const std::unique_ptr<LastRecord> record = std::move(record_);
    try {
        TheRecordPlaces().Use(record->place, record->stack, record->stream);
    } catch (const std::exception&) {
    }
}

// `endOf`: the event, which ends; 0: it is recorded elsewhere.
void EventUse::Leave(Handle endOf) noexcept {
    const SanitizerScope own;
    const std::unique_ptr<LastRecord> record = std::move(record_);
    if (record == nullptr) {
        return;
    }
    try {
        const UnusedEvent unused{endOf, record->stream, record->stack};
        const bool tells = endOf != 0 && isTold_ && !used_ && Sanitizing(SanitizerCheck::kSync);
        for (const UnusedEvent& ended :
             TheRecordPlaces().Leave(std::move(record->place), tells ? &unused : nullptr)) {
            Tell(ended);
        }
    } catch (const std::exception&) {
    }
}

}  // namespace advstep
