// SPDX-License-Identifier: Apache-2.0
/// Synchronisations and waits with a timeout, and aborts. Rules for every call: acl/acl_rt.h.
///
/// A synchronisation with a timeout never runs a host function or long work on the calling thread,
/// so it returns in time. The library's own threads run that work.
#ifndef ADVSTEP_ACL_RT_TIMEOUT_H_
#define ADVSTEP_ACL_RT_TIMEOUT_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// As aclrtSynchronizeStream, for at most timeout milliseconds (-1: for ever). [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID        timeout is 0 or less than -1
/// @retval ACL_ERROR_RT_STREAM_SYNC_TIMEOUT  the work has not ended in time; it continues
/// @retval ACL_ERROR_RT_STREAM_ABORT         the stream was aborted, or destroyed by
///                                           aclrtDestroyStreamForce, during the wait
ADVSTEP_API aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

/// As aclrtSynchronizeDevice. Arguments and codes are those of aclrtSynchronizeStreamWithTimeout.
/// [context]
ADVSTEP_API aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout);

/// As aclrtSynchronizeEvent. Arguments and codes are those of aclrtSynchronizeStreamWithTimeout,
/// except:
/// @retval ACL_ERROR_RT_EVENT_SYNC_TIMEOUT  the record has not been reached in time
ADVSTEP_API aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);

/// As aclrtStreamWaitEvent, for at most timeout seconds from the time when the wait is the oldest
/// work of the stream (0: for ever). A wait that lasts longer fails with ACL_ERROR_RT_WAIT_TIMEOUT,
/// which a synchronisation reports. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  timeout is negative
ADVSTEP_API aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event,
                                                     int32_t timeout);

/// Sets the timeout, in seconds, of later aclrtStreamWaitEvent calls of all threads, until the
/// runtime ends. The default is 0: for ever.
ADVSTEP_API aclError aclrtSetOpWaitTimeout(uint32_t timeout);

/// Drops the stream's work that has not started, including work of replays on it. Work that is
/// running ends by itself. Synchronisations that wait for the stream return
/// ACL_ERROR_RT_STREAM_ABORT. The stream accepts new work, unless a failure that has not been
/// reported has stopped it. A host function may make this call.
/// [context]
ADVSTEP_API aclError aclrtStreamAbort(aclrtStream stream);

/// Ends the stream's first task if it has begun and is a wait or a conditional task; the stream
/// then goes on with the next task. The rest of a sub-graph that runs is dropped. A kernel, a copy
/// or a host function that runs ends by itself, and a task that has not begun is not affected.
/// [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID    stream is NULL
/// @retval ACL_ERROR_RT_STREAM_CAPTURED  the stream is being captured
ADVSTEP_API aclError aclrtStreamStop(aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_TIMEOUT_H_ */
