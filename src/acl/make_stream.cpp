// SPDX-License-Identifier: Apache-2.0
// Checks the priority and the flags of a stream, and creates it.

#include "src/acl/make_stream.h"

#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream_state.h"
#include "src/runtime/stream/streams.h"

namespace advstep {
namespace {

constexpr uint32_t kStreamFlags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC |
                                  ACL_STREAM_PERSISTENT | ACL_STREAM_HUGE |
                                  ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;

}  // namespace

Status MakeStream(const char* call, aclrtStream* stream, uint32_t priority, uint32_t flag) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
    if (priority > kLeastStreamPriority) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "priority is {}; expected 0 <= priority <= {}",
                     priority, kLeastStreamPriority);
    }
    if ((flag & ~kStreamFlags) != 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "flag is {:#x}; expected 0 or ACL_STREAM_ bits, in all {:#x}", flag,
                     kStreamFlags);
    }
    ContextRef current;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
    Handle handle = 0;
    ADVSTEP_RETURN_IF_ERROR(CreateStream(current, priority, flag, &handle));
    *stream = ToPointer(handle);
    return Made({}, ObjectKind::kStream, call, stream);
}

}  // namespace advstep
