// SPDX-License-Identifier: Apache-2.0
// Makes the findings about synchronisations in captures and failures that nobody asked for.

#include "src/runtime/stream/sync_findings.h"

#include "src/base/sanitizer_scope.h"

namespace advstep {

void ReportSyncInCapture(const Status& refused) {
    const SanitizerScope own;
    const CallStack stack = CallStack::Here();
    const std::string call = stack.EntryCall();
    Finding finding(SanitizerCheck::kSync, "sync_in_capture",
                    fmt::format("{} waits or asks for work during a capture, which cannot record "
                                "it ({})",
                                call.empty() ? "a call" : call, refused.code()));
    finding.Line(refused.message());
    finding.Stack("work", "the call:", stack);
    finding.fields().Add("call", call);
    finding.fields().Add("code", static_cast<uint64_t>(refused.code()));
    Report(finding);
}

void ReportUnaskedFailure(Handle stream, const Status& failure, const CallStack* queuedBy) {
    const SanitizerScope own;
    Finding finding(SanitizerCheck::kSync, "error_never_asked",
                    fmt::format("a task of stream {} failed with {}, and no call has asked for it",
                                ToPointer(stream), failure.code()));
    finding.Line(failure.message());
    finding.Line("expected a synchronisation of the stream, whose code is checked, after the work");
    if (queuedBy != nullptr) {
        finding.Stack("work", "the task was queued in:", *queuedBy);
    }
    finding.fields().AddAddress("stream", ToPointer(stream));
    finding.fields().Add("code", static_cast<uint64_t>(failure.code()));
    Report(finding);
}

}  // namespace advstep
