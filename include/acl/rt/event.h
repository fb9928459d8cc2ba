/// Events. Rules for every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_EVENT_H_
#define ADVSTEP_ACL_RT_EVENT_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Creates an event with timing. [context]
ADVSTEP_API aclError aclrtCreateEvent(aclrtEvent* event);

/// As aclrtCreateEvent; timing only with ACL_EVENT_TIME_LINE, waiting and resetting only with
/// ACL_EVENT_SYNC. [context]
/// @param[in] flag  ACL_EVENT_SYNC, ACL_EVENT_CAPTURE_STREAM_PROGRESS, ACL_EVENT_TIME_LINE, or-ed
/// @retval ACL_ERROR_RT_PARAM_INVALID        flag is 0 or has unknown bits
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  ACL_EVENT_DEVICE_USE_ONLY, _EXTERNAL or _IPC
ADVSTEP_API aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag);

/// Creates an event that counts as complete until it is recorded; timing only with
/// ACL_EVENT_TIME_LINE. Arguments and codes as aclrtCreateEventWithFlag. [context]
ADVSTEP_API aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag);

/// Destroys an event, also while it is pending: queued records and waits keep their meaning.
ADVSTEP_API aclError aclrtDestroyEvent(aclrtEvent event);

/// Queues a mark; the event is complete when everything queued before it has run. Recording again
/// moves the event. [context]
ADVSTEP_API aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

/// Makes later work of the stream wait for the event's latest record at the time of this call. An
/// unrecorded aclrtCreateEventExWithFlag event is no wait. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID        unrecorded event of aclrtCreateEvent(WithFlag)
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  aclrtCreateEventWithFlag without ACL_EVENT_SYNC
ADVSTEP_API aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

/// Waits for the event's latest record (at once if there is none); runs pending work itself.
/// Returns the first unreported failure of work queued before the record, once.
ADVSTEP_API aclError aclrtSynchronizeEvent(aclrtEvent event);

/// Whether the latest record has completed; unrecorded: NOT_READY, but COMPLETE for
/// aclrtCreateEventExWithFlag.
ADVSTEP_API aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status);

/// As aclrtQueryEventStatus with the values of aclrtEventStatus.
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  event of aclrtCreateEventExWithFlag
ADVSTEP_API aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status);

/// Queues the event's return to unrecorded, in stream order. [context]
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  not of aclrtCreateEventWithFlag with ACL_EVENT_SYNC
ADVSTEP_API aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);

/// Milliseconds from startEvent's record to endEvent's; negative when the end came first.
/// @retval ACL_ERROR_RT_INTERNAL_ERROR           an event is unrecorded
/// @retval ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID  an event is incomplete or made without timing
ADVSTEP_API aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent);

/// Microseconds of a clock that only goes forward, when the latest record was reached.
/// @retval ACL_ERROR_RT_INTERNAL_ERROR           the event is unrecorded
/// @retval ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID  it is incomplete or made without timing
ADVSTEP_API aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp);

/// Whether every stream that aclrtStreamWaitEvent has made wait for the event so far has passed
/// that wait; COMPLETE also if there is none.
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  event of aclrtCreateEventExWithFlag
ADVSTEP_API aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status);

/// A number that no other live event has.
ADVSTEP_API aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_EVENT_H_ */
