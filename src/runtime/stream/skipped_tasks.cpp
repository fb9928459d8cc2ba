// SPDX-License-Identifier: Apache-2.0
// Words the reason for which a task was skipped.
#include "src/runtime/stream/skipped_tasks.h"

#include "acl/acl_base.h"

namespace advstep {

Status SkipReason::Word() const {
    switch (why) {
        case TaskSkip::kNot:
            return {};
        case TaskSkip::kDestroyed:
            return Error(ACL_ERROR_RT_INVALID_HANDLE,
                         "the stream was destroyed before the task was run");
        case TaskSkip::kAborted:
            return Error(ACL_ERROR_RT_STREAM_ABORT,
                         "the stream was aborted before the task was run");
        case TaskSkip::kDeviceAborted:
            return Error(ACL_ERROR_RT_DEVICE_TASK_ABORT,
                         "the work of the stream's device was aborted before the task was run");
        default:
            return Error(failure,
                         "the stream stopped on an earlier failure before the task was run");
    }
}

Status SkippedTasks::CheckRan(uint64_t sequence) const {
    if (sequence <= after_ || sequence > upTo_) {
        return {};
    }
    size_t part = count_ - 1;  // there is one, and the first begins after `after_`
    while (parts_[part].first > sequence) {
        --part;
    }
    return parts_[part].reason.Word();
}

}  // namespace advstep
