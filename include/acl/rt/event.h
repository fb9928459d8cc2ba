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
/// streams can wait for it and reset it only with ACL_EVENT_SYNC. ACL_EVENT_EXTERNAL makes a flag,
/// which is not set at first: records are tasks that set it, resets are tasks that clear it, and
/// waits are tasks that end when it is set. On a stream that is being captured these tasks become
/// tasks of the model, and no other stream joins the capture because of them. [context]
/// @param[in] flag  ACL_EVENT_SYNC, ACL_EVENT_CAPTURE_STREAM_PROGRESS, ACL_EVENT_TIME_LINE, or-ed,
///                  or ACL_EVENT_EXTERNAL alone
/// @retval ACL_ERROR_RT_PARAM_INVALID        flag is 0, has unknown bits, or has ACL_EVENT_EXTERNAL
///                                           with others
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  flag has ACL_EVENT_DEVICE_USE_ONLY or _IPC
ADVSTEP_API aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag);

/// Creates an event that counts as complete until it is recorded. It has timing only with
/// ACL_EVENT_TIME_LINE. ACL_EVENT_IPC alone makes an event for several processes
/// (acl/rt/shared_sync.h). Arguments and codes are those of aclrtCreateEventWithFlag, except:
/// [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  flag has ACL_EVENT_EXTERNAL, or ACL_EVENT_IPC with others
ADVSTEP_API aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag);

/// Destroys an event. Records and waits that are queued stay valid.
ADVSTEP_API aclError aclrtDestroyEvent(aclrtEvent event);

/// Records the event at the end of the stream's queue. The event is complete when the work queued
/// before the record has run. A later record replaces an earlier one. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  the event was recorded with ACL_EVENT_RECORD_EXTERNAL
ADVSTEP_API aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

/// Makes later work of the stream wait for the event's latest record at the time of this call. An
/// event of aclrtCreateEventExWithFlag that was never recorded causes no wait. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID        the event is not recorded, and is of aclrtCreateEvent
///                                           or of aclrtCreateEventWithFlag with ACL_EVENT_SYNC;
///                                           there was a wait for it with ACL_EVENT_WAIT_EXTERNAL
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  the event is of aclrtCreateEventWithFlag without
///                                           ACL_EVENT_SYNC and ACL_EVENT_EXTERNAL
ADVSTEP_API aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

/// Waits for the event's latest record; returns at once if there is none. The calling thread helps
/// to run the work before the record. The call returns the first failure of that work that no
/// synchronisation has reported yet. A failure is reported once.
/// @retval ACL_ERROR_RT_STREAM_ABORT       the stream of the record was aborted, or destroyed by
///                                         aclrtDestroyStreamForce, during the wait
/// @retval ACL_ERROR_RT_DEVICE_TASK_ABORT  aclrtDeviceTaskAbort dropped the work
ADVSTEP_API aclError aclrtSynchronizeEvent(aclrtEvent event);

/// Reports whether the latest record is complete. An event that is not recorded is NOT_READY, or
/// COMPLETE if aclrtCreateEventExWithFlag made it.
ADVSTEP_API aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status);

/// As aclrtQueryEventStatus, with the values of aclrtEventStatus.
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  the event is of aclrtCreateEventExWithFlag
ADVSTEP_API aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status);

/// Queues a reset: in stream order, the event becomes unrecorded again. [context]
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  the event is of aclrtCreateEventExWithFlag, or of
///                                           aclrtCreateEventWithFlag without ACL_EVENT_SYNC and
///                                           ACL_EVENT_EXTERNAL
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

/// Reports whether all waits that aclrtStreamWaitEvent has queued for the event so far are over.
/// The status is COMPLETE if there were none.
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  the event is of aclrtCreateEventExWithFlag
ADVSTEP_API aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status);

/// Returns the event's number, which no other live event has.
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  the event is of ACL_EVENT_IPC
ADVSTEP_API aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId);

/// Returns the number of events that the process can still create. [context]
ADVSTEP_API aclError aclrtGetEventAvailNum(uint32_t* eventCount);

/// Records the event. With ACL_EVENT_RECORD_DEFAULT the call is aclrtRecordEvent. With
/// ACL_EVENT_RECORD_EXTERNAL it adds a record to the model that the stream is being captured into,
/// for streams outside the model: each aclmdlRIExecuteAsync makes the record of its replay the
/// event's latest one. The event must be of aclrtCreateEventExWithFlag with ACL_EVENT_SYNC alone,
/// and a model can record it once. The first call fixes the flag for all records of an event, even
/// if it fails; aclrtRecordEvent counts as ACL_EVENT_RECORD_DEFAULT. [context]
/// @retval ACL_ERROR_INVALID_PARAM           flag is neither DEFAULT nor EXTERNAL
/// @retval ACL_ERROR_RT_PARAM_INVALID        the event was recorded with the other flag, or is
///                                           recorded in this capture already
/// @retval ACL_ERROR_RT_STREAM_NOT_CAPTURED  flag is EXTERNAL, and the stream is not being captured
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  flag is EXTERNAL, and the event is of another kind or
///                                           the capture fills a sub-graph
ADVSTEP_API aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag);

/// Makes the stream wait for the event. With ACL_EVENT_WAIT_DEFAULT the call is
/// aclrtStreamWaitEventWithTimeout. With ACL_EVENT_WAIT_EXTERNAL it adds a wait to the model that
/// the stream is being captured into: each replay waits for the record that is the event's latest
/// one at the time of aclmdlRIExecuteAsync, or for nothing if there is none. The rules and codes of
/// aclrtRecordEventWithFlag apply, with waits in place of records. [context]
/// @param[in] timeout  in seconds; 0: for ever
/// @retval ACL_ERROR_INVALID_PARAM  flag is neither DEFAULT nor EXTERNAL; flag is EXTERNAL, and
///                                  timeout is not 0
ADVSTEP_API aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event,
                                                  uint32_t timeout, uint32_t flag);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_RT_EVENT_H_ */
