/// Devices, contexts, streams, events and memory of the emulated machine.
///
/// Rules for every call below
///   - A null out-pointer or handle is ACL_ERROR_INVALID_PARAM, unless the call says otherwise.
///   - A destroyed, foreign or wrong-kind handle is ACL_ERROR_RT_INVALID_HANDLE.
///   - Calls marked [context] answer ACL_ERROR_RT_CONTEXT_NULL when the thread has no current
///     context, and take NULL for the current context's default stream where they take a stream.
///   - A call that would wait for the host function that makes it answers
///     ACL_ERROR_RT_FEATURE_NOT_SUPPORT: synchronisations, pageable asynchronous copies, and those
///     that destroy a stream or context or end a device or the runtime; also aclrtSetDevice and
///     aclrtCreateContext for a device whose reset waits for that function.
///   - Calls that take a stream answer ACL_ERROR_RT_STREAM_CONTEXT for one of another context.
///   - On error no output argument is written and aclGetRecentErrMsg() says what was wrong.
///   - Every call may be made from any thread.
#ifndef ADVSTEP_ACL_ACL_RT_H_
#define ADVSTEP_ACL_ACL_RT_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- values ---------------------------------------------------------------------------- */

#define ACL_EVENT_SYNC 0x00000001U
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x00000002U
#define ACL_EVENT_TIME_LINE 0x00000008U
#define ACL_EVENT_DEVICE_USE_ONLY 0x00000010U
#define ACL_EVENT_EXTERNAL 0x00000020U
#define ACL_EVENT_IPC 0x00000040U

#define ACL_STREAM_FAST_LAUNCH 0x00000001U
#define ACL_STREAM_FAST_SYNC 0x00000002U
#define ACL_STREAM_PERSISTENT 0x00000004U
#define ACL_STREAM_HUGE 0x00000008U
#define ACL_STREAM_CPU_SCHEDULE 0x00000010U
#define ACL_STREAM_DEVICE_USE_ONLY 0x00000020U

#define ACL_CONTINUE_ON_FAILURE 0x00000000U
#define ACL_STOP_ON_FAILURE 0x00000001U

typedef enum { ACL_RT_THREAD_LEVEL = 0 } aclrtLastErrLevel;

typedef enum { ACL_DEVICE = 0, ACL_HOST = 1 } aclrtRunMode;

typedef enum {
    ACL_STREAM_STATUS_COMPLETE = 0,
    ACL_STREAM_STATUS_NOT_READY = 1,
    ACL_STREAM_STATUS_RESERVED = 0xFFFF
} aclrtStreamStatus;

typedef enum {
    ACL_EVENT_STATUS_COMPLETE = 0,
    ACL_EVENT_STATUS_NOT_READY = 1,
    ACL_EVENT_STATUS_RESERVED = 2
} aclrtEventStatus;

typedef enum {
    ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
    ACL_EVENT_RECORDED_STATUS_COMPLETE = 1
} aclrtEventRecordedStatus;

typedef enum {
    ACL_MEMCPY_HOST_TO_HOST = 0,
    ACL_MEMCPY_HOST_TO_DEVICE = 1,
    ACL_MEMCPY_DEVICE_TO_HOST = 2,
    ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
    ACL_MEMCPY_DEFAULT = 4,
    ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE = 5,
    ACL_MEMCPY_INNER_DEVICE_TO_DEVICE = 6,
    ACL_MEMCPY_INTER_DEVICE_TO_DEVICE = 7
} aclrtMemcpyKind;

typedef enum {
    ACL_MEM_MALLOC_HUGE_FIRST = 0,
    ACL_MEM_MALLOC_HUGE_ONLY = 1,
    ACL_MEM_MALLOC_NORMAL_ONLY = 2,
    ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3,
    ACL_MEM_MALLOC_HUGE_ONLY_P2P = 4,
    ACL_MEM_MALLOC_NORMAL_ONLY_P2P = 5,
    ACL_MEM_MALLOC_HUGE1G_ONLY = 6,
    ACL_MEM_MALLOC_HUGE1G_ONLY_P2P = 7,
    ACL_MEM_TYPE_LOW_BAND_WIDTH = 0x0100,
    ACL_MEM_TYPE_HIGH_BAND_WIDTH = 0x1000,
    ACL_MEM_ACCESS_USER_SPACE_READONLY = 0x100000
} aclrtMemMallocPolicy;

typedef enum {
    ACL_DDR_MEM = 0,
    ACL_HBM_MEM = 1,
    ACL_DDR_MEM_HUGE = 2,
    ACL_DDR_MEM_NORMAL = 3,
    ACL_HBM_MEM_HUGE = 4,
    ACL_HBM_MEM_NORMAL = 5,
    ACL_DDR_MEM_P2P_HUGE = 6,
    ACL_DDR_MEM_P2P_NORMAL = 7,
    ACL_HBM_MEM_P2P_HUGE = 8,
    ACL_HBM_MEM_P2P_NORMAL = 9,
    ACL_HBM_MEM_HUGE1G = 10,
    ACL_HBM_MEM_P2P_HUGE1G = 11,
    ACL_MEM_NORMAL = 12,
    ACL_MEM_HUGE = 13,
    ACL_MEM_HUGE1G = 14,
    ACL_MEM_P2P_NORMAL = 15,
    ACL_MEM_P2P_HUGE = 16,
    ACL_MEM_P2P_HUGE1G = 17
} aclrtMemAttr;

/// Work of the host inside a stream; runs on a thread of the library or on a synchronising one.
typedef void (*aclrtHostFunc)(void* args);

/* ---- errors and identity --------------------------------------------------------------- */

/// The code of the thread's most recent failed acl or aclrt call; 0 if there is none. Stays set.
/// @retval ACL_ERROR_RT_PARAM_INVALID  level is not ACL_RT_THREAD_LEVEL
ADVSTEP_API aclError aclrtPeekAtLastError(aclrtLastErrLevel level);

/// As aclrtPeekAtLastError, and clears it.
ADVSTEP_API aclError aclrtGetLastError(aclrtLastErrLevel level);

/// The interface's version: ACL_MAJOR_VERSION, ACL_MINOR_VERSION, ACL_PATCH_VERSION of acl.h.
ADVSTEP_API aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion,
                                     int32_t* patchVersion);

/// Name of the emulated SoC (setting ADVANCE_STEP_SOC); NULL when the settings are not valid.
/// @return text valid until the runtime is ended
ADVSTEP_API const char* aclrtGetSocName(void);

/// Always ACL_HOST: the caller runs on the host's CPU, beside the emulated device.
ADVSTEP_API aclError aclrtGetRunMode(aclrtRunMode* runMode);

/* ---- devices --------------------------------------------------------------------------- */

/// Makes the device's primary context the thread's current one, creating it on first use, and
/// counts one use of the device.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   deviceId is not in [0, device count)
/// @retval ACL_ERROR_FILE_ATTR_INVALID     first device use, and a setting has a bad value
ADVSTEP_API aclError aclrtSetDevice(int32_t deviceId);

/// Takes one use off. At 0 it waits for the device's work, then frees the primary context, its
/// streams and events, and the device's memory. Other contexts of the device stay.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID        deviceId is not in [0, device count)
/// @retval ACL_ERROR_RT_CONTEXT_RELEASE_ERROR   the device is not set
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT     called from a host function
ADVSTEP_API aclError aclrtResetDevice(int32_t deviceId);

/// As aclrtResetDevice, at once whatever the count.
ADVSTEP_API aclError aclrtResetDeviceForce(int32_t deviceId);

/// Device of the current context. [context]
ADVSTEP_API aclError aclrtGetDevice(int32_t* deviceId);

/// Number of emulated devices (setting ADVANCE_STEP_DEVICES).
ADVSTEP_API aclError aclrtGetDeviceCount(uint32_t* count);

/// Waits for everything queued on the current context's device; runs pending work itself. Returns
/// the first failure that no synchronisation has reported yet, once. [context]
ADVSTEP_API aclError aclrtSynchronizeDevice(void);

/// Bytes of device memory of the current context's device that are free, and in all. [context]
/// @param[in] attr  any memory kind; the emulated device has one pool
/// @retval ACL_ERROR_RT_PARAM_INVALID  attr is no aclrtMemAttr
ADVSTEP_API aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total);

/* ---- contexts -------------------------------------------------------------------------- */

/// Creates a context with a default stream of its own and makes it current in this thread.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
ADVSTEP_API aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId);

/// Waits for the context's streams, then destroys them and the context.
/// @retval ACL_ERROR_RT_CONTEXT_NULL         the context is unknown, destroyed or a primary one
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  called from a host function
ADVSTEP_API aclError aclrtDestroyContext(aclrtContext context);

ADVSTEP_API aclError aclrtSetCurrentContext(aclrtContext context);

/// The thread's current context. [context]
ADVSTEP_API aclError aclrtGetCurrentContext(aclrtContext* context);

/* ---- streams --------------------------------------------------------------------------- */

/// Creates an in-order queue of device work in the current context. [context]
ADVSTEP_API aclError aclrtCreateStream(aclrtStream* stream);

/// As aclrtCreateStream. Priority and flags are kept and do not change results. [context]
/// @param[in] priority  0 (greatest) to 7
/// @param[in] flag      0 or ACL_STREAM_ bits
/// @retval ACL_ERROR_RT_PARAM_INVALID  priority above 7, or unknown bits in flag
ADVSTEP_API aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority,
                                                 uint32_t flag);

/// Waits for the stream's pending work, then destroys it. NULL is ACL_ERROR_INVALID_PARAM; a
/// context's default stream, which it owns, is ACL_ERROR_RT_PARAM_INVALID. [context]
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  called from a host function of that stream
ADVSTEP_API aclError aclrtDestroyStream(aclrtStream stream);

/// As aclrtDestroyStream, but drops work that has not started. Waits on dropped work are over.
ADVSTEP_API aclError aclrtDestroyStreamForce(aclrtStream stream);

/// Waits until everything queued so far has run; runs pending work itself, host functions
/// included. [context]
/// @retval ACL_ERROR_RT_VECTOR_CORE_EXCEPTION  (or another code of a failed task) the first
///         failure of this stream that no synchronisation has reported yet; reported once
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT    called from a host function that it would wait for
ADVSTEP_API aclError aclrtSynchronizeStream(aclrtStream stream);

/// Whether everything queued so far has run. Runs nothing itself. [context]
ADVSTEP_API aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status);

/// Queues fn(args). Later work of the stream waits for it. fn runs with the stream's context
/// current, and must not wait for its own stream. If fn throws, the task fails with
/// ACL_ERROR_FAILURE. [context]
/// @param[in] args  handed to fn; may be NULL
ADVSTEP_API aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args);

/// What happens after a failed task, for every stream of the stream's context. [context]
/// ACL_CONTINUE_ON_FAILURE (the default): later tasks run. ACL_STOP_ON_FAILURE: later tasks of the
/// failed stream are skipped, and new work is refused with the failure's code, until a
/// synchronisation has reported it.
/// @retval ACL_ERROR_RT_PARAM_INVALID  another mode, or the stream's mode was set before
ADVSTEP_API aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

/* ---- events ---------------------------------------------------------------------------- */

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

/* ---- memory ---------------------------------------------------------------------------- */

/// Allocates device memory, aligned to 64 bytes or more; contents are undefined. [context]
/// @param[in] size    bytes; >= 1, else ACL_ERROR_INVALID_PARAM
/// @param[in] policy  a page policy, with memory-type bits or-ed; all name the same memory here
/// @retval ACL_ERROR_RT_PARAM_INVALID      unknown policy
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION  more than is free
ADVSTEP_API aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/// As aclrtMalloc.
ADVSTEP_API aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/// Frees device memory. Safe while queued work uses it: the memory goes back when the work queued
/// before this call has run.
/// @retval ACL_ERROR_INVALID_PARAM     devPtr is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID  devPtr is not the start of a live device allocation
ADVSTEP_API aclError aclrtFree(void* devPtr);

/// Allocates pinned host memory, which asynchronous copies need to be asynchronous. [context]
/// @retval ACL_ERROR_INVALID_PARAM         hostPtr is NULL or size is 0
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION  the host has no such memory
ADVSTEP_API aclError aclrtMallocHost(void** hostPtr, size_t size);

/// Frees pinned host memory; codes and safety as aclrtFree.
ADVSTEP_API aclError aclrtFreeHost(void* hostPtr);

/// Copies count bytes now, in no order with streams. count 0 succeeds. A device-side range, and a
/// host-side one in pinned memory, must lie inside one allocation. [context]
/// @retval ACL_ERROR_INVALID_PARAM     dst or src is NULL, or kind is unknown
/// @retval ACL_ERROR_RT_PARAM_INVALID  count > destMax; a range is outside its allocation or, on
///                                     the device side, inside none
ADVSTEP_API aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                                 aclrtMemcpyKind kind);

/// Copies in stream order. Returns before the copy has run when the host side is pinned; with
/// pageable host memory it returns when the copy is done. Codes as aclrtMemcpy. [context]
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  from host to host; pageable memory inside a host
///                                           function
/// @retval (code of an earlier task)         a pageable copy that was skipped, because its stream
///                                           stopped on that failure
ADVSTEP_API aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                                      aclrtMemcpyKind kind, aclrtStream stream);

/// Sets count bytes to the low byte of value now, in no order with streams. Takes device and
/// pinned host memory. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  count > maxCount; the range is not inside one allocation
ADVSTEP_API aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count);

/// As aclrtMemset, in stream order, asynchronous. [context]
ADVSTEP_API aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_ACL_RT_H_ */
