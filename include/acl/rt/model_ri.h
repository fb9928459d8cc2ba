/// Capture and replay: a recorded sequence of work as a model (aclmdlRI). Rules for every call:
/// acl/acl_rt.h.
///
/// Between begin and end, work sent to a capturing stream is recorded and not run. A stream that
/// waits for an event recorded on a capturing stream joins the capture, and must be waited for
/// again. Replays use the addresses captured; executors and tensors may be gone by then, memory and
/// notifies may not. Rules of a capture:
///   - Only events of aclrtCreateEventExWithFlag may be recorded, waited on or reset on a capturing
///     stream; others are ACL_ERROR_RT_FEATURE_NOT_SUPPORT. A wait there for an event recorded
///     outside the capture is ACL_ERROR_RT_CAPTURE_DEPENDENCY; pulling the default stream in is
///     ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT.
///   - To synchronise, query, abort or destroy a capturing stream, to replay on it and to
///     synchronise its device is ACL_ERROR_RT_STREAM_CAPTURED; to synchronise, query or measure an
///     event recorded on it ACL_ERROR_RT_EVENT_CAPTURED.
///   - Pageable memory in an asynchronous copy on a capturing stream is ACL_ERROR_RT_PARAM_INVALID.
///   - Synchronous copies and fills are ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, asynchronous copies
///     of pageable memory on other streams ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC: for every thread
///     while a capture of mode GLOBAL is under way, for the thread that began one of mode
///     THREAD_LOCAL, for nobody in mode RELAXED; see aclmdlRICaptureThreadExchangeMode.
///   - A refused call changes nothing and the capture goes on, but for a stream that cannot join,
///     because it has stopped on a failure or there is no memory: then the capture is invalidated,
///     and everything on it but aclmdlRICaptureGetInfo is
///     ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, up to aclmdlRICaptureEnd.
#ifndef ADVSTEP_ACL_RT_MODEL_RI_H_
#define ADVSTEP_ACL_RT_MODEL_RI_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- capture: NULL is no stream here, but ACL_ERROR_INVALID_PARAM ------------------------- */

/// Begins to record the stream's work. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID        mode is no aclmdlRICaptureMode
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  the context's default stream
/// @retval ACL_ERROR_RT_STREAM_CAPTURED      the stream is being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS  the stream updates a task group
ADVSTEP_API aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);

/// Ends the capture that began on this stream. [context]
/// @param[out] modelRI  what was recorded, to be destroyed by aclmdlRIDestroy or with its context
/// @retval ACL_ERROR_RT_STREAM_NOT_CAPTURED           the stream is not being captured
/// @retval ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED      the capture began on another stream
/// @retval ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD   another thread began it, not in mode RELAXED
/// @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS         a task group is open
/// @retval ACL_ERROR_RT_STREAM_UNJOINED               a stream that joined is not waited for
/// @retval ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED    the capture is over without a result
/// @retval ACL_ERROR_BAD_ALLOC                        the same, if the capture is not active any more
ADVSTEP_API aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI);

/// Whether the stream is being captured, and into what. One of the two outputs may be NULL.
/// [context]
/// @param[out] modelRI  what aclmdlRICaptureEnd will return, if the status is ACTIVE; else NULL.
///                      To use it before is ACL_ERROR_RT_MODEL_CAPTURED
ADVSTEP_API aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                            aclmdlRI* modelRI);

/// Swaps *mode with the calling thread's own, at first GLOBAL, which says what captures forbid it:
/// RELAXED nothing, THREAD_LOCAL what its own captures do (unless RELAXED), GLOBAL also what other
/// threads' captures of mode GLOBAL do.
/// @retval ACL_ERROR_RT_PARAM_INVALID  *mode is no aclmdlRICaptureMode
ADVSTEP_API aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode);

/// Begins a group of operator launches that can be replaced later. [context]
/// Until its end the stream takes operator launches and event records only; other work is
/// ACL_ERROR_STREAM_TASK_GROUP_INTR.
/// @retval ACL_ERROR_RT_STREAM_NOT_CAPTURED    the stream is not being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS  the stream is in a task group
ADVSTEP_API aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream);

/// @param[out] handle  the group, which lives as long as its model
/// @retval ACL_ERROR_RT_STREAM_NOT_CAPTURED    the stream is not being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS  the stream is in no task group
ADVSTEP_API aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle);

/// Operator launches on the stream replace those of the group, in order, and are not run. Other
/// work is ACL_ERROR_STREAM_TASK_GROUP_INTR. [context]
/// @retval ACL_ERROR_RT_INVALID_HANDLE         handle is no group, or its model was destroyed
/// @retval ACL_ERROR_RT_MODEL_CAPTURED         its model is still being captured
/// @retval ACL_ERROR_RT_STREAM_CAPTURED        the stream is being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS  the stream updates a group
ADVSTEP_API aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle);

/// Ends the update. Replays that are queued later use the new launches. [context]
/// @retval ACL_ERROR_RT_STREAM_CAPTURED        the stream is being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS  the stream updates no group
/// @retval ACL_ERROR_RT_INTERNAL_ERROR         another number of launches than the group's, or of
///                                             another operator: the update is over, the model as
///                                             before
/// @retval ACL_ERROR_BAD_ALLOC                 the update is over, the model as it was
ADVSTEP_API aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream);

/* ---- replay --------------------------------------------------------------------------- */

/// Queues a replay, in the order of the stream. Replays of one model run one after another, on
/// whatever streams of its context. A failure is reported by the stream's synchronisation.
/// [context]
/// @retval ACL_ERROR_RT_STREAM_CONTEXT   the model was captured in another context
/// @retval ACL_ERROR_RT_MODEL_CAPTURED   it is still being captured
/// @retval ACL_ERROR_RT_STREAM_CAPTURED  the stream is being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_INTR  the stream updates a task group
/// @retval ACL_ERROR_RT_PARAM_INVALID    memory that was captured has been freed
/// @retval ACL_ERROR_RT_INVALID_HANDLE   modelRI, or a notify that was captured, is destroyed
ADVSTEP_API aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);

/// Replays on a stream of its own and waits for the end. Codes as aclmdlRIExecuteAsync, and of a
/// task that failed. [context]
/// @param[in] timeout  in milliseconds; -1 for ever
/// @retval ACL_ERROR_RT_PARAM_INVALID        timeout is 0 or less than -1
/// @retval ACL_ERROR_RT_STREAM_SYNC_TIMEOUT  it has not ended in time, and goes on
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  called from a host function
ADVSTEP_API aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout);

/// @retval ACL_ERROR_RT_MODEL_RUNNING   a replay has not ended
/// @retval ACL_ERROR_RT_MODEL_CAPTURED  it is still being captured
ADVSTEP_API aclError aclmdlRIDestroy(aclmdlRI modelRI);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_MODEL_RI_H_ */
