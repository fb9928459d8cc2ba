// SPDX-License-Identifier: Apache-2.0
/// Capture and replay: a model (aclmdlRI) is a recorded sequence of work. Rules for every call:
/// acl/acl_rt.h.
///
/// From the begin of a capture to its end, work for a capturing stream is recorded and not run. A
/// stream that waits for an event recorded on a capturing stream joins the capture. Before the end,
/// a stream of the capture must wait for the work of the stream that joined. Replays use the
/// captured addresses. Executors and tensors may be destroyed before a replay; memory, notifies and
/// events of the model must still exist. Rules of a capture:
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
///     streams return ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC. In its context, a capture of mode
///     GLOBAL forbids them to every thread, one of THREAD_LOCAL to the thread that began it, one of
///     RELAXED to no thread; see aclmdlRICaptureThreadExchangeMode.
///   - A refused call changes nothing, and the capture continues, with one exception: the capture
///     becomes invalid if a stream cannot join because it has stopped on a failure or because
///     memory is short. Every call on an invalid capture then returns
///     ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, aclmdlRICaptureEnd too, which ends it. Only
///     aclmdlRICaptureGetInfo still works.
#ifndef ADVSTEP_ACL_RT_MODEL_RI_H_
#define ADVSTEP_ACL_RT_MODEL_RI_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- capture: these calls return ACL_ERROR_INVALID_PARAM for a NULL stream ---------------- */

/// Begins to record the stream's work. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID          mode is not a value of aclmdlRICaptureMode
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT    stream is the context's default stream
/// @retval ACL_ERROR_RT_STREAM_CAPTURED        the stream is already being captured
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
/// @retval ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED    the capture is invalid: it ends without a
///                                                    model
/// @retval ACL_ERROR_BAD_ALLOC                        memory is short: aclmdlRICaptureGetInfo
///                                                    reports whether the capture still runs or has
///                                                    ended without a model
ADVSTEP_API aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI);

/// Reports whether the stream is being captured, and into which model. One of the two outputs may
/// be NULL. [context]
/// @param[out] modelRI  the model that aclmdlRICaptureEnd will return, if the status is ACTIVE;
///                      else NULL. Other calls on the model return ACL_ERROR_RT_MODEL_CAPTURED
///                      until then, except aclmdlRIGetId and aclmdlRICondHandleCreate
ADVSTEP_API aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                            aclmdlRI* modelRI);

/// Exchanges *mode and the calling thread's mode, which is GLOBAL at first. The thread's mode
/// selects the captures that may forbid calls to the thread:
///   - RELAXED: no captures
///   - THREAD_LOCAL: its own captures, except those of mode RELAXED
///   - GLOBAL: those of THREAD_LOCAL, and other threads' captures of mode GLOBAL
/// @retval ACL_ERROR_RT_PARAM_INVALID  *mode is not a value of aclmdlRICaptureMode
ADVSTEP_API aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode);

/// Begins a task group, which is a series of operator launches that can be replaced later. Until
/// the end of the group, the stream accepts only operator launches and event records, and refuses
/// other work with ACL_ERROR_STREAM_TASK_GROUP_INTR. [context]
/// @retval ACL_ERROR_RT_STREAM_NOT_CAPTURED    the stream is not being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS  a task group is open on the stream
ADVSTEP_API aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream);

/// Ends the task group. [context]
/// @param[out] handle  the group; it lives as long as its model
/// @retval ACL_ERROR_RT_STREAM_NOT_CAPTURED    the stream is not being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS  no task group is open on the stream
ADVSTEP_API aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle);

/// Begins an update of the group. From then on, operator launches on the stream are not run: they
/// replace those of the group, in order. The stream refuses other work with
/// ACL_ERROR_STREAM_TASK_GROUP_INTR. [context]
/// @retval ACL_ERROR_RT_INVALID_HANDLE         handle is no group, or its model was destroyed
/// @retval ACL_ERROR_RT_MODEL_CAPTURED         the group's model is still being captured
/// @retval ACL_ERROR_RT_STREAM_CAPTURED        the stream is being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS  the stream already updates a group
ADVSTEP_API aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle);

/// Ends the update. Replays that are queued later use the new launches, and so do queued replays
/// that have not reached the group. The last three codes end the update too, but leave the model
/// unchanged. [context]
/// @retval ACL_ERROR_RT_STREAM_CAPTURED        the stream is being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_STATUS  the stream updates no group
/// @retval ACL_ERROR_RT_INTERNAL_ERROR         the number or the operators of the launches differ
///                                             from the group's
/// @retval ACL_ERROR_RT_PARAM_INVALID          memory of a launch has been freed
/// @retval ACL_ERROR_BAD_ALLOC                 memory is short
ADVSTEP_API aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream);

/* ---- replay --------------------------------------------------------------------------- */

/// Queues a replay in stream order, on any stream of the model's context. Replays of one model run
/// one after another. A synchronisation of the stream reports a failure. [context]
/// @retval ACL_ERROR_RT_STREAM_CONTEXT       the model was captured in another context
/// @retval ACL_ERROR_RT_MODEL_CAPTURED       the model is still being captured
/// @retval ACL_ERROR_RT_STREAM_CAPTURED      the stream is being captured
/// @retval ACL_ERROR_STREAM_TASK_GROUP_INTR  the stream updates a task group
/// @retval ACL_ERROR_RT_DEVICE_TASK_ABORT    aclrtDeviceTaskAbort of the device is under way
/// @retval ACL_ERROR_RT_PARAM_INVALID        captured memory has been freed; modelRI is a sub-graph
/// @retval ACL_ERROR_RT_INVALID_HANDLE       modelRI or a captured notify or event has been
///                                           destroyed; the binary of a captured kernel has been
///                                           unloaded
ADVSTEP_API aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);

/// Replays the model on a stream that belongs to the model, and waits for the end. [context] A
/// replay that would wait for a callback of the calling thread is not queued; if that shows only
/// when it is run, the rest of it is dropped. The codes are those of aclmdlRIExecuteAsync, the code
/// of a task that failed, and:
/// @param[in] timeout  in milliseconds; -1: for ever
/// @retval ACL_ERROR_RT_PARAM_INVALID        timeout is 0 or less than -1
/// @retval ACL_ERROR_RT_STREAM_SYNC_TIMEOUT  the replay has not ended in time; it continues
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  called from a host function, or by a callback's thread
ADVSTEP_API aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout);

/// Destroys a model.
/// @retval ACL_ERROR_RT_MODEL_RUNNING   a replay of the model has not ended
/// @retval ACL_ERROR_RT_MODEL_CAPTURED  the model is still being captured
/// @retval ACL_ERROR_RT_PARAM_INVALID   the model is a sub-graph of a conditional task
ADVSTEP_API aclError aclmdlRIDestroy(aclmdlRI modelRI);

/* ---- conditional tasks ------------------------------------------------------------------- */

/// Creates a variable of a model that is being captured: 8 bytes of device memory, which are 0 at
/// first and live as long as the model. Captured work may write the variable.
/// @param[in] modelRI             the model, as aclmdlRICaptureGetInfo returned it
/// @param[in] defaultLaunchValue  the value that the variable gets before every execution of
///                                modelRI, if flag is ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT. A
///                                sub-graph of a WHILE is executed once for each turn
/// @param[in] flag                ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT; or 0: the variable
///                                keeps its value from one execution to the next
/// @retval ACL_ERROR_RT_PARAM_INVALID               modelRI is not being captured; flag is unknown
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION           the device's memory is used up
/// @retval ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED  the capture is invalid
ADVSTEP_API aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue,
                                              aclmdlRICondHandleFlag flag,
                                              aclmdlRICondHandle* handle);

/// Returns the address of the variable, in device memory.
/// @retval ACL_ERROR_RT_PARAM_INVALID  handle is no condition, or its model was destroyed
ADVSTEP_API aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** ptr);

/// Records a conditional task. The call creates its sub-graphs, which are captured next: each by
/// aclmdlRICaptureToModelRIBegin and aclmdlRICaptureEnd on another stream. In a replay the task
/// reads the variable n:
///   - IF runs sub-graph 0 if n is not 0, and else sub-graph 1 if there is one.
///   - WHILE tests n first, and runs its sub-graph again and again while n is not 0.
///   - SWITCH runs sub-graph n if there is one.
///
/// A failure in a sub-graph ends a WHILE, and a synchronisation reports it. aclrtStreamAbort and
/// aclrtDestroyStreamForce drop the rest of a sub-graph that runs. [context]
/// @param[in] params  the variable, the type, the number of sub-graphs (1 or 2 for IF, 1 for WHILE,
///                    1 to 65536 for SWITCH) and an array that gets them. Sub-graphs may have
///                    conditional tasks themselves, up to 64 inside each other; they are executed
///                    and destroyed with the model
/// @param[in] flags   0
/// @retval ACL_ERROR_RT_STREAM_NOT_CAPTURED    the stream is not being captured
/// @retval ACL_ERROR_RT_PARAM_INVALID          the variable is of another model or has a task
///                                             already; the type, the number of sub-graphs, the
///                                             depth or flags is not as above
/// @retval ACL_ERROR_STREAM_TASK_GROUP_INTR    a task group is open on the stream
ADVSTEP_API aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream,
                                         uint32_t flags);

/// Begins to record the stream's work into a sub-graph, as aclmdlRICaptureBegin does into a model.
/// Until each sub-graph has been captured, aclmdlRICaptureEnd for the model itself returns
/// ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING, and the model's capture continues. [context] The codes
/// are those of aclmdlRICaptureBegin and:
/// @retval ACL_ERROR_RT_PARAM_INVALID  modelRI is no sub-graph, or has been captured
ADVSTEP_API aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI,
                                                   aclmdlRICaptureMode mode);

/* ---- descriptions of a model --------------------------------------------------------------- */

/// Returns the model's number, which no other live model has. The call works during the capture
/// too.
ADVSTEP_API aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId);

/// Gives the model a name, in place of an earlier one.
/// @retval ACL_ERROR_RT_MODEL_CAPTURED  the capture has not ended
ADVSTEP_API aclError aclmdlRISetName(aclmdlRI modelRI, const char* name);

/// Returns the model's name; "" if it has none.
/// @param[in] maxLen  the bytes at name
/// @retval ACL_ERROR_RT_MODEL_CAPTURED  the capture has not ended
/// @retval ACL_ERROR_RT_PARAM_INVALID   maxLen is too small for the name and its NUL
ADVSTEP_API aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name);

/// Registers a callback for the end of the model: func(userData) is called once aclmdlRIDestroy, or
/// the end of the model's context, has destroyed the model, in the thread that does so. Callbacks
/// are called in the order of their registration, under the rules of a host function. Their
/// exceptions are logged and dropped.
/// @param[in] userData  may be NULL
/// @retval ACL_ERROR_RT_MODEL_CAPTURED  the capture has not ended
/// @retval ACL_ERROR_RT_PARAM_INVALID   func is registered for this model
ADVSTEP_API aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func,
                                                     void* userData);

/// Removes a callback of aclmdlRIDestroyRegisterCallback.
/// @retval ACL_ERROR_RT_MODEL_CAPTURED  the capture has not ended
/// @retval ACL_ERROR_RT_PARAM_INVALID   func is not registered for this model
ADVSTEP_API aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func);

/// Writes a line for each task of the model to the log, at every log level.
/// @retval ACL_ERROR_RT_MODEL_CAPTURED  the capture has not ended
ADVSTEP_API aclError aclmdlRIDebugPrint(aclmdlRI modelRI);

/// Writes the model's tasks to a file, as a JSON array of events of the Trace Event Format, which
/// chrome://tracing and Perfetto show. There is a row for each branch, in which each task takes a
/// microsecond. The call replaces an existing file.
/// @param[in] flags  ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY: the names of the tasks, and the tasks for
///                   which waits wait; _VERBOSE: also the tasks' details and the memory they use
/// @retval ACL_ERROR_INVALID_PARAM      path is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID   flags is unknown; the file cannot be written
/// @retval ACL_ERROR_RT_MODEL_CAPTURED  the capture has not ended
ADVSTEP_API aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t flags);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_MODEL_RI_H_ */
