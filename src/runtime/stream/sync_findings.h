// SPDX-License-Identifier: Apache-2.0
// Findings of the sanitizer's check of synchronisation that several parts of the runtime make.

#pragma once

#include "src/base/sanitizer.h"
#include "src/base/status.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

void ReportSyncInCapture(const Status& refused);

/// Returns `checked`. A failure is a finding: a call that waits or asks, and that no capture can
/// record. Locks may be held.
inline Status ToldInCapture(Status checked) {
    if (__builtin_expect(!checked.ok(), 0) && Sanitizing(SanitizerCheck::kSync)) {
        ReportSyncInCapture(checked);
    }
    return checked;
}

/// Tells a failure of a task that no synchronisation has returned. `queuedBy`: the call that queued
/// the task; null: it is not known.
void ReportUnaskedFailure(Handle stream, const Status& failure, const CallStack* queuedBy);

}  // namespace advstep
