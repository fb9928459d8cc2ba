// SPDX-License-Identifier: Apache-2.0
/// Events. Rules for every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_EVENT_H_
#define ADVSTEP_ACL_RT_EVENT_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Creates an event with timing. [context]
ADVSTEP_API aclError aclrtCreateEvent(aclrtEvent* event);

/// As aclrtCreateEvent, except that the event has timing only with ACL_EVENT_TIME_LINE, and that
/// streams can wait for it and reset it only with ACL_EVENT_SYNC. ACL_EVENT_EXTERNAL makes an event
/// that is set or not set: records and resets are tasks that set and reset it, and waits are tasks
/// that end when it is set. On a stream that is being captured they become tasks of the model, and
/// no other stream joins the capture for them. [context]
/// @param[in] flag  ACL_EVENT_SYNC, ACL_EVENT_CAPTURE_STREAM_PROGRESS, ACL_EVENT_TIME_LINE, or-ed,
///                  or ACL_EVENT_EXTERNAL alone
/// @retval ACL_ERROR_RT_PARAM_INVALID        flag is 0, has unknown bits, or has ACL_EVENT_EXTERNAL
///                                           with others
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  flag has ACL_EVENT_DEVICE_USE_ONLY or _IPC
ADVSTEP_API aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag);

/// Creates an event that counts as complete until it is recorded. It has timing only with
/// ACL_EVENT_TIME_LINE. Arguments and codes are those of aclrtCreateEventWithFlag, except that
/// ACL_EVENT_EXTERNAL returns ACL_ERROR_RT_PARAM_INVALID, and that ACL_EVENT_IPC alone makes an
/// event for several processes (acl/rt/shared_sync.h). [context]
ADVSTEP_API aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag);

/// Destroys an event. It may be pending: records and waits that are queued stay valid.
ADVSTEP_API aclError aclrtDestroyEvent(aclrtEvent event);

/// Records the event at the end of the stream's queue. The event is complete when the work queued
/// before the record has run. A later record replaces an earlier one. [context]
ADVSTEP_API aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

/// Makes later work of the stream wait for the event's latest record at the time of this call. An
/// event of aclrtCreateEventExWithFlag that was never recorded causes no wait. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID        the event is of aclrtCreateEvent(WithFlag) and is not
///                                           recorded
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  the event is of aclrtCreateEventWithFlag without
///                                           ACL_EVENT_SYNC
ADVSTEP_API aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

/// Waits for the event's latest record; returns at once if there is none. The calling thread helps
/// to run the work before the record. Returns the first failure of that work that no
/// synchronisation has reported yet. A failure is reported once.
ADVSTEP_API aclError aclrtSynchronizeEvent(aclrtEvent event);

/// Reports whether the latest record is complete. An event that was never recorded is NOT_READY;
/// one of aclrtCreateEventExWithFlag is COMPLETE.
ADVSTEP_API aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status);

/// As aclrtQueryEventStatus, with the values of aclrtEventStatus.
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  the event is of aclrtCreateEventExWithFlag
ADVSTEP_API aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status);

/// Queues a reset: in stream order, the event becomes unrecorded again. [context]
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  the event is not of aclrtCreateEventWithFlag with
///                                           ACL_EVENT_SYNC
ADVSTEP_API aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);

/// Returns the milliseconds from startEvent's record to endEvent's; they are negative if endEvent's
/// record came first.
/// @retval ACL_ERROR_RT_INTERNAL_ERROR           an event is unrecorded
/// @retval ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID  an event is incomplete or has no timing
ADVSTEP_API aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent);

/// Returns the time of the latest record, in microseconds of a monotonic clock.
/// @retval ACL_ERROR_RT_INTERNAL_ERROR           the event is unrecorded
/// @retval ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID  the event is incomplete or has no timing
ADVSTEP_API aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp);

/// Reports whether all waits for the event that aclrtStreamWaitEvent has queued so far are over;
/// COMPLETE if there are none.
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  the event is of aclrtCreateEventExWithFlag
ADVSTEP_API aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status);

/// Returns the event's number. No other live event has the same one.
ADVSTEP_API aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId);

/// As aclrtRecordEvent, or, with ACL_EVENT_RECORD_EXTERNAL on a capturing stream, a task of the
/// graph for streams outside it: each aclmdlRIExecuteAsync makes the record of its replay the
/// event's latest one. Such an event is one of aclrtCreateEventExWithFlag with ACL_EVENT_SYNC alone,
/// and a graph records it once. All records of an event have the same flag, that of the first call,
/// also if it failed; aclrtRecordEvent counts as ACL_EVENT_RECORD_DEFAULT. [context]
/// @retval ACL_ERROR_INVALID_PARAM           flag is no flag of these
/// @retval ACL_ERROR_RT_PARAM_INVALID        the event was recorded with the other flag, or in this
///                                           capture before
/// @retval ACL_ERROR_RT_STREAM_NOT_CAPTURED  EXTERNAL, and the stream is not being captured
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  EXTERNAL, and the event is of another kind or the
///                                           capture fills a sub-graph
ADVSTEP_API aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag);

/// As aclrtStreamWaitEventWithTimeout, or, with ACL_EVENT_WAIT_EXTERNAL on a capturing stream, a
/// task of the graph that waits for the event's latest record at each aclmdlRIExecuteAsync; without
/// one it waits for nothing. Rules and codes are those of aclrtRecordEventWithFlag, for waits.
/// [context]
/// @param[in] timeout  in seconds; 0: for ever
/// @retval ACL_ERROR_INVALID_PARAM  flag is no flag of these; EXTERNAL with a timeout other than 0
ADVSTEP_API aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event,
                                                  uint32_t timeout, uint32_t flag);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_RT_EVENT_H_ */
