/// Synchronisation with a limit, waits with a limit, and abort. Rules for every call: acl/acl_rt.h.
///
/// The timed synchronisations never start a host function or long work on the calling thread: that
/// is left to the library's own threads, so they return in time.
#ifndef ADVSTEP_ACL_RT_TIMEOUT_H_
#define ADVSTEP_ACL_RT_TIMEOUT_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// As aclrtSynchronizeStream, for at most timeout milliseconds (-1: for ever). [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID        timeout is 0 or less than -1
/// @retval ACL_ERROR_RT_STREAM_SYNC_TIMEOUT  the work has not ended in time, and goes on
/// @retval ACL_ERROR_RT_STREAM_ABORT         the stream was aborted meanwhile
ADVSTEP_API aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

/// As aclrtSynchronizeDevice; arguments and codes as aclrtSynchronizeStreamWithTimeout. [context]
ADVSTEP_API aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout);

/// As aclrtSynchronizeEvent; arguments and codes as aclrtSynchronizeStreamWithTimeout, but:
/// @retval ACL_ERROR_RT_EVENT_SYNC_TIMEOUT  the record has not been reached in time
ADVSTEP_API aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);

/// As aclrtStreamWaitEvent, for at most timeout seconds from when the wait is the oldest work of
/// the stream (0: for ever). When they are over the wait has failed with
/// ACL_ERROR_RT_WAIT_TIMEOUT, which a synchronisation reports. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  timeout is negative
ADVSTEP_API aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event,
                                                     int32_t timeout);

/// The timeout, in seconds, of later aclrtStreamWaitEvent calls of all threads; 0, as at first, for
/// ever. Lasts until the runtime is ended.
ADVSTEP_API aclError aclrtSetOpWaitTimeout(uint32_t timeout);

/// Drops the stream's work that has not started, that of replays on it included; what is running
/// ends by itself. Synchronisations
/// that wait for the stream return ACL_ERROR_RT_STREAM_ABORT. The stream takes new work. May be
/// called from a host function. [context]
ADVSTEP_API aclError aclrtStreamAbort(aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_TIMEOUT_H_ */
