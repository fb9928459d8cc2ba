// SPDX-License-Identifier: Apache-2.0
// Words the reason for which a task was skipped.
#include "src/runtime/stream/skipped_tasks.h"

#include "acl/acl_base.h"

namespace advstep {

Status SkippedTasks::CheckRan(uint64_t sequence) const {
    if (!Contains(sequence)) {
        return {};
    }
    return Error(code, "the stream {} before the task was run",
                 code == ACL_ERROR_RT_INVALID_HANDLE ? "was destroyed"
                 : code == ACL_ERROR_RT_STREAM_ABORT ? "was aborted"
                                                     : "stopped on an earlier failure");
}

}  // namespace advstep
