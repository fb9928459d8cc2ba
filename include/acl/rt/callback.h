/// Callbacks that streams send to a thread of the program. Rules for every call: acl/acl_rt.h.
///
/// A thread subscribes to a stream, and runs the stream's callbacks inside aclrtProcessReport. For
/// work that the library may run on a thread of its own there is aclrtLaunchHostFunc.
#ifndef ADVSTEP_ACL_RT_CALLBACK_H_
#define ADVSTEP_ACL_RT_CALLBACK_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Lets a thread run the stream's callbacks. A thread may subscribe to several streams. [context]
/// @param[in] threadId  the thread's pthread_self()
/// @retval ACL_ERROR_RT_STREAM_SUBSCRIBE  the stream is subscribed to already, by any thread
ADVSTEP_API aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);

/// Ends that. Callbacks that have not run are dropped; the stream does not wait for them. [context]
/// @retval ACL_ERROR_RT_STREAM_NO_CB_REG  the stream is not subscribed to
/// @retval ACL_ERROR_RT_THREAD_SUBSCRIBE  it is, by another thread
ADVSTEP_API aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);

/// Queues a callback for the subscribed thread. With ACL_CALLBACK_BLOCK later work of the stream
/// waits until it has run; the subscribed thread must not wait for the stream then, nor end its
/// context, its device or the runtime, and gets ACL_ERROR_RT_FEATURE_NOT_SUPPORT if it does.
/// [context]
/// @param[in] userData  handed to fn; may be NULL
/// @retval ACL_ERROR_INVALID_PARAM        fn is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID     blockType is no aclrtCallbackBlockType
/// @retval ACL_ERROR_RT_STREAM_NO_CB_REG  no thread is subscribed to the stream; also the task's
///                                        failure, if none is when its turn comes
ADVSTEP_API aclError aclrtLaunchCallback(aclrtCallback fn, void* userData,
                                         aclrtCallbackBlockType blockType, aclrtStream stream);

/// Waits for one callback of the streams that the calling thread is subscribed to, and runs it. The
/// callback must not reset a device or end the runtime, which is
/// ACL_ERROR_RT_FEATURE_NOT_SUPPORT; so is aclrtSetDevice there for a device that is being reset.
/// @param[in] timeout  in milliseconds; -1 for ever
/// @retval ACL_ERROR_INVALID_PARAM        timeout is 0 or less than -1
/// @retval ACL_ERROR_RT_THREAD_SUBSCRIBE  the thread is subscribed to no stream
/// @retval ACL_ERROR_RT_REPORT_TIMEOUT    none came in time
/// @retval ACL_ERROR_INTERNAL_ERROR       the callback threw an exception; it counts as run
ADVSTEP_API aclError aclrtProcessReport(int32_t timeout);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_CALLBACK_H_ */
