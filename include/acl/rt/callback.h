// SPDX-License-Identifier: Apache-2.0
/// Callbacks of streams that a thread of the program runs. Rules for every call: acl/acl_rt.h.
///
/// A thread subscribes to a stream and runs the stream's callbacks in aclrtProcessReport.
/// aclrtLaunchHostFunc queues work that the library may run on a thread of its own.
#ifndef ADVSTEP_ACL_RT_CALLBACK_H_
#define ADVSTEP_ACL_RT_CALLBACK_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Subscribes a thread to the stream: the thread runs the stream's callbacks. A thread may be
/// subscribed to several streams. [context]
/// @param[in] threadId  the thread's pthread_self()
/// @retval ACL_ERROR_RT_PARAM_INVALID     threadId is 0
/// @retval ACL_ERROR_RT_STREAM_SUBSCRIBE  a thread is subscribed to the stream already
ADVSTEP_API aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);

/// Ends the subscription. Callbacks that have not run are dropped; the stream does not wait for
/// them. [context]
/// @retval ACL_ERROR_RT_STREAM_NO_CB_REG  no thread is subscribed to the stream
/// @retval ACL_ERROR_RT_THREAD_SUBSCRIBE  another thread is subscribed to the stream
ADVSTEP_API aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);

/// Queues a callback for the subscribed thread. If blockType is ACL_CALLBACK_BLOCK, later work of
/// the stream waits until the callback has run. Until then the subscribed thread must not wait for
/// the stream or end its context, its device or the runtime; such a call returns
/// ACL_ERROR_RT_FEATURE_NOT_SUPPORT. The callback of a replay goes to the thread that is subscribed
/// to the captured stream, or else to the stream of the replay. [context]
/// @param[in] userData  passed to fn; may be NULL
/// @retval ACL_ERROR_INVALID_PARAM        fn is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID     blockType is not a value of aclrtCallbackBlockType
/// @retval ACL_ERROR_RT_STREAM_NO_CB_REG  no thread is subscribed to the stream; the task fails
///                                        with the same code if no thread is subscribed when its
///                                        turn comes
ADVSTEP_API aclError aclrtLaunchCallback(aclrtCallback fn, void* userData,
                                         aclrtCallbackBlockType blockType, aclrtStream stream);

/// Waits for one callback of the streams to which the calling thread is subscribed, and runs it.
/// The callback must not reset a device, end the runtime or call aclrtSetDevice for a device that
/// is being reset; such a call returns ACL_ERROR_RT_FEATURE_NOT_SUPPORT.
/// @param[in] timeout  in milliseconds; -1: for ever
/// @retval ACL_ERROR_INVALID_PARAM        timeout is 0 or less than -1
/// @retval ACL_ERROR_RT_THREAD_SUBSCRIBE  the thread is subscribed to no stream
/// @retval ACL_ERROR_RT_REPORT_TIMEOUT    no callback came in time
/// @retval ACL_ERROR_INTERNAL_ERROR       the callback threw an exception; it counts as run
ADVSTEP_API aclError aclrtProcessReport(int32_t timeout);

/// These three calls are aclrtSubscribeReport, aclrtUnSubscribeReport and aclrtProcessReport under
/// the names of other products. The names may be mixed. The first two are [context] calls.
ADVSTEP_API aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream);
ADVSTEP_API aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream);
ADVSTEP_API aclError aclrtProcessHostFunc(int32_t timeout);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_CALLBACK_H_ */
