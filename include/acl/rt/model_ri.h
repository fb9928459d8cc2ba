// SPDX-License-Identifier: Apache-2.0
/// Capture and replay: a recorded sequence of work as a model (aclmdlRI). Rules for every call:
/// acl/acl_rt.h.
///
/// Between begin and end, work sent to a capturing stream is recorded and not run. A stream that
/// waits for an event recorded on a capturing stream joins the capture; a stream of the capture
/// must wait for it again before the end. Replays use the captured addresses. Executors and tensors
/// may be destroyed before a replay; memory and notifies must still exist. Rules of a capture:
///   - Only events of aclrtCreateEventExWithFlag may be recorded, waited for or reset on a
///     capturing stream; a call with another event returns ACL_ERROR_RT_FEATURE_NOT_SUPPORT. A wait
///     there for an event that was recorded outside the capture returns
///     ACL_ERROR_RT_CAPTURE_DEPENDENCY. A wait that would make the default stream join returns
///     ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT.
///   - Synchronising, querying, aborting or destroying a capturing stream, replaying on it and
///     synchronising its device return ACL_ERROR_RT_STREAM_CAPTURED. Synchronising, querying or
///     measuring an event recorded on it returns ACL_ERROR_RT_EVENT_CAPTURED.
///   - An asynchronous copy of pageable memory on a capturing stream returns
///     ACL_ERROR_RT_PARAM_INVALID.
///   - A capture forbids some calls: synchronous copies and fills return
///     ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, asynchronous copies of pageable memory on other
///     streams return ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC. A capture of mode GLOBAL forbids them
///     to every thread, one of mode THREAD_LOCAL to the thread that began it, one of mode RELAXED
///     to none; see aclmdlRICaptureThreadExchangeMode.
///   - A refused call changes nothing, and the capture continues. There is one exception: a stream
///     that cannot join because it has stopped on a failure or because memory is short invalidates
///     the capture. Every call on an invalidated capture returns
///     ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED up to and including aclmdlRICaptureEnd, except
///     aclmdlRICaptureGetInfo.
#ifndef ADVSTEP_ACL_RT_MODEL_RI_H_
#define ADVSTEP_ACL_RT_MODEL_RI_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- capture: these calls return ACL_ERROR_INVALID_PARAM for a NULL stream ---------------- */

/// Begins to record the stream's work. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID        mode is not a value of aclmdlRICaptureMode
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  stream is the context's default stream
/// @retval ACL_ERROR_RT_STREAM_CAPTURED      the stream is already being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS  the stream updates a task group
ADVSTEP_API aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);

/// Ends the capture that began on this stream. [context]
/// @param[out] modelRI  the recorded model; aclmdlRIDestroy or the end of its context destroys it
/// @retval ACL_ERROR_RT_STREAM_NOT_CAPTURED           the stream is not being captured
/// @retval ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED      the capture began on another stream
/// @retval ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD   another thread began the capture, in a mode
///                                                    other than RELAXED
/// @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS         a task group is open
/// @retval ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING     a sub-graph of a conditional task has not
///                                                    been captured
/// @retval ACL_ERROR_RT_STREAM_UNJOINED               a stream that joined has work for which the
///                                                    first stream does not wait
/// @retval ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED    the capture is over without a result
/// @retval ACL_ERROR_BAD_ALLOC                        memory is short; the capture is over without
///                                                    a result if it is no longer active
ADVSTEP_API aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI);

/// Reports whether the stream is being captured, and into which model. One of the two outputs may
/// be NULL. [context]
/// @param[out] modelRI  the model that aclmdlRICaptureEnd will return, if the status is ACTIVE;
///                      else NULL. Calls that use the model before the end return
///                      ACL_ERROR_RT_MODEL_CAPTURED
ADVSTEP_API aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                            aclmdlRI* modelRI);

/// Swaps *mode with the calling thread's mode, which is GLOBAL at first. The thread's mode selects
/// the captures that may forbid calls to the thread:
///   - RELAXED: none
///   - THREAD_LOCAL: its own captures, except those of mode RELAXED
///   - GLOBAL: the same, and other threads' captures of mode GLOBAL
/// @retval ACL_ERROR_RT_PARAM_INVALID  *mode is not a value of aclmdlRICaptureMode
ADVSTEP_API aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode);

/// Begins a task group: operator launches that can be replaced later. The stream accepts operator
/// launches and event records only, until the end of the group; other work is refused with
/// ACL_ERROR_STREAM_TASK_GROUP_INTR. [context]
/// @retval ACL_ERROR_RT_STREAM_NOT_CAPTURED    the stream is not being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS  a task group is open on the stream
ADVSTEP_API aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream);

/// Ends the task group. [context]
/// @param[out] handle  the group; it lives as long as its model
/// @retval ACL_ERROR_RT_STREAM_NOT_CAPTURED    the stream is not being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS  no task group is open on the stream
ADVSTEP_API aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle);

/// Begins an update of the group. Operator launches on the stream then replace those of the group,
/// in order, and are not run. Other work is refused with ACL_ERROR_STREAM_TASK_GROUP_INTR.
/// [context]
/// @retval ACL_ERROR_RT_INVALID_HANDLE         handle is not a group, or its model was destroyed
/// @retval ACL_ERROR_RT_MODEL_CAPTURED         the group's model is still being captured
/// @retval ACL_ERROR_RT_STREAM_CAPTURED        the stream is being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS  the stream already updates a group
ADVSTEP_API aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle);

/// Ends the update. Replays that are queued later use the new launches, and so do queued ones that
/// have not come to the group. [context]
/// @retval ACL_ERROR_RT_STREAM_CAPTURED        the stream is being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS  the stream updates no group
/// @retval ACL_ERROR_RT_INTERNAL_ERROR         the number or the operators of the launches differ
///                                             from the group's; the update has ended, and the
///                                             model is unchanged
/// @retval ACL_ERROR_RT_PARAM_INVALID          memory of a launch has been freed; likewise
/// @retval ACL_ERROR_BAD_ALLOC                 memory is short; the update has ended, and the model
///                                             is unchanged
ADVSTEP_API aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream);

/* ---- replay --------------------------------------------------------------------------- */

/// Queues a replay in stream order. Replays of one model run one after another, on any streams of
/// its context. A synchronisation of the stream reports a failure. [context]
/// @retval ACL_ERROR_RT_STREAM_CONTEXT   the model was captured in another context
/// @retval ACL_ERROR_RT_MODEL_CAPTURED   the model is still being captured
/// @retval ACL_ERROR_RT_STREAM_CAPTURED  the stream is being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_INTR  the stream updates a task group
/// @retval ACL_ERROR_RT_PARAM_INVALID    captured memory has been freed; modelRI is a sub-graph
/// @retval ACL_ERROR_RT_INVALID_HANDLE   modelRI, a captured notify or an event has been destroyed
ADVSTEP_API aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);

/// Replays the model on a stream of its own and waits for the end. [context] The codes are those of
/// aclmdlRIExecuteAsync, the code of a task that failed, and:
/// @param[in] timeout  in milliseconds; -1: for ever
/// @retval ACL_ERROR_RT_PARAM_INVALID        timeout is 0 or less than -1
/// @retval ACL_ERROR_RT_STREAM_SYNC_TIMEOUT  the replay has not ended in time; it continues
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  called from a host function
ADVSTEP_API aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout);

/// Destroys a model.
/// @retval ACL_ERROR_RT_MODEL_RUNNING   a replay of the model has not ended
/// @retval ACL_ERROR_RT_MODEL_CAPTURED  the model is still being captured
/// @retval ACL_ERROR_RT_PARAM_INVALID   the model is a sub-graph of a conditional task
ADVSTEP_API aclError aclmdlRIDestroy(aclmdlRI modelRI);

/* ---- conditional tasks ------------------------------------------------------------------- */

/// Creates a variable of a model that is being captured: 8 bytes of device memory, 0 at first, which
/// live as long as the model. Captured work may write it.
/// @param[in] modelRI             of aclmdlRICaptureGetInfo
/// @param[in] defaultLaunchValue  with ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT the value of the
///                                variable at the start of every execution of modelRI; a sub-graph
///                                of a WHILE is executed once for each turn
/// @param[in] flag                that, or 0: an execution finds the value that was written last
/// @retval ACL_ERROR_RT_PARAM_INVALID            modelRI is not being captured; flag is unknown
/// @retval ACL_ERROR_RT_RESOURCE_ALLOC_FAIL      the device's memory is used up
/// @retval ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED  the capture has been invalidated
ADVSTEP_API aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue,
                                              aclmdlRICondHandleFlag flag,
                                              aclmdlRICondHandle* handle);

/// Returns the address of the variable.
/// @retval ACL_ERROR_RT_PARAM_INVALID  handle is no condition, or its model was destroyed
ADVSTEP_API aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** ptr);

/// Records a conditional task, whose sub-graphs are captured next, each by
/// aclmdlRICaptureToModelRIBegin on another stream and aclmdlRICaptureEnd there. In a replay the task
/// reads the variable n: IF runs sub-graph 0 if n is not 0, else 1 if there is one; WHILE runs its
/// sub-graph again and again while n is not 0, and tests first; SWITCH runs sub-graph n, or none if
/// there is no such. A failure in a sub-graph ends a WHILE, and a synchronisation reports it. An
/// abort, or the forced destruction, of the stream drops the sub-graph that runs. [context]
/// @param[in] params  type, size, and an array of `size` elements for the sub-graphs. They may have
///                    conditional tasks themselves; they are executed and destroyed with the model
/// @param[in] flags   0
/// @retval ACL_ERROR_RT_STREAM_NOT_CAPTURED    the stream is not being captured
/// @retval ACL_ERROR_RT_PARAM_INVALID          the variable is of another model or has a task; type,
///                                             size or flags is wrong
/// @retval ACL_ERROR_STREAM_TASK_GROUP_INTR    a task group is open on the stream
ADVSTEP_API aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream,
                                         uint32_t flags);

/// Begins to record the stream's work into a sub-graph, as aclmdlRICaptureBegin does into a model.
/// aclmdlRICaptureEnd of the model itself returns ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING, and its
/// capture continues, until each sub-graph has been captured. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  modelRI is no sub-graph, or has been captured; mode is
///                                     unknown
ADVSTEP_API aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI,
                                                   aclmdlRICaptureMode mode);

/* ---- what a model is --------------------------------------------------------------------- */

/// Returns the model's number, also during its capture. No other live model has the same one.
ADVSTEP_API aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId);

/// Writes the model's tasks to the log, a line each, at every log level.
/// @retval ACL_ERROR_RT_MODEL_CAPTURED  the capture has not ended
ADVSTEP_API aclError aclmdlRIDebugPrint(aclmdlRI modelRI);

/// Writes the model's tasks to a file, as a JSON array of events of the Trace Event Format, which
/// chrome://tracing and Perfetto show: a row for each branch, a microsecond for each task in its
/// order. An existing file is replaced.
/// @param[in] flags  ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY: names, and the places that waits wait for;
///                   _VERBOSE: also what each task says of itself, and the memory that it uses
/// @retval ACL_ERROR_INVALID_PARAM      path is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID   flags is unknown; the file cannot be written
/// @retval ACL_ERROR_RT_MODEL_CAPTURED  the capture has not ended
ADVSTEP_API aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t flags);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_MODEL_RI_H_ */
