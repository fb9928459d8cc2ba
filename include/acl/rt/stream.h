// SPDX-License-Identifier: Apache-2.0
/// Streams. Rules for every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_STREAM_H_
#define ADVSTEP_ACL_RT_STREAM_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Creates an in-order queue of device work in the current context. [context]
ADVSTEP_API aclError aclrtCreateStream(aclrtStream* stream);

/// As aclrtCreateStream. The stream keeps the priority and the flags; they do not change results.
/// [context]
/// @param[in] priority  0 (greatest) to 7
/// @param[in] flag      0 or ACL_STREAM_ bits
/// @retval ACL_ERROR_RT_PARAM_INVALID  priority is above 7, or flag has unknown bits
ADVSTEP_API aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority,
                                                 uint32_t flag);

/// Creates a configuration with the defaults of aclrtCreateStream. Returns NULL if the host is out
/// of memory.
ADVSTEP_API aclrtStreamConfigHandle* aclrtCreateStreamConfigHandle(void);

/// Destroys a configuration of aclrtCreateStreamConfigHandle. Streams keep what they got from it.
/// @retval ACL_ERROR_RT_INVALID_HANDLE  handle is not of aclrtCreateStreamConfigHandle, or
/// destroyed
ADVSTEP_API aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle* handle);

/// Sets one attribute to the valueSize bytes at attrValue:
///
///     ACL_RT_STREAM_WORK_ADDR_PTR  a void*: memory for the stream's work; kept, no effect
///     ACL_RT_STREAM_WORK_SIZE      a size_t: the bytes of that memory; kept, no effect
///     ACL_RT_STREAM_FLAG           a size_t of ACL_STREAM_ bits
///     ACL_RT_STREAM_PRIORITY       a uint32_t, 0 to 7
///
/// @retval ACL_ERROR_INVALID_PARAM  handle or attrValue is NULL; attr is unknown; valueSize is not
///                                  the size of its type; the priority is above 7
ADVSTEP_API aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle* handle,
                                             aclrtStreamConfigAttr attr, const void* attrValue,
                                             size_t valueSize);

/// As aclrtCreateStreamWithConfig, with the priority and the flags of a configuration. [context]
/// @param[in] handle  NULL: the defaults
ADVSTEP_API aclError aclrtCreateStreamV2(aclrtStream* stream,
                                         const aclrtStreamConfigHandle* handle);

/// Waits for the stream's pending work, then destroys the stream. [context]
/// @retval ACL_ERROR_INVALID_PARAM           stream is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID        stream is a default stream, which its context owns
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  called from a host function of that stream
ADVSTEP_API aclError aclrtDestroyStream(aclrtStream stream);

/// As aclrtDestroyStream, except that work that has not started is dropped. Waits of other streams
/// for dropped work end. Synchronisations that wait for it return ACL_ERROR_RT_STREAM_ABORT.
ADVSTEP_API aclError aclrtDestroyStreamForce(aclrtStream stream);

/// Waits until all work queued so far has run. The calling thread helps to run it, host functions
/// included. [context]
/// @retval ACL_ERROR_RT_VECTOR_CORE_EXCEPTION  (or the code of another failed task) the first
///                                             failure of this stream that no synchronisation has
///                                             reported yet; it is reported once
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT    called from a host function that it would wait for
/// @retval ACL_ERROR_RT_STREAM_ABORT           the stream was aborted, or destroyed by
///                                             aclrtDestroyStreamForce, during the wait
/// @retval ACL_ERROR_RT_DEVICE_TASK_ABORT      aclrtDeviceTaskAbort dropped the work
/// @retval ACL_ERROR_RT_STREAM_CAPTURED        the stream is being captured
ADVSTEP_API aclError aclrtSynchronizeStream(aclrtStream stream);

/// Reports whether all work queued so far has run. The calling thread runs none of it. [context]
ADVSTEP_API aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status);

/// Queues the call fn(args). Later work of the stream waits for it. fn runs with the stream's
/// context current and in the default floating-point environment, and must not wait for its own
/// stream. If fn throws, the task fails with ACL_ERROR_FAILURE. [context]
/// @param[in] args  passed to fn; may be NULL
ADVSTEP_API aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args);

/// Sets the behaviour after a failed task, for every stream of the stream's context. [context]
///   - ACL_CONTINUE_ON_FAILURE (the default): later tasks run.
///   - ACL_STOP_ON_FAILURE: later tasks of the failed stream are skipped, and the stream refuses
///     new work with the failure's code, until a synchronisation has reported the failure.
/// @retval ACL_ERROR_RT_PARAM_INVALID  mode is another value, or the stream's mode was set before
ADVSTEP_API aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

/// Returns the stream's number, which no other stream of the process ever has. [context]
ADVSTEP_API aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId);

/// Returns the stream's priority; 0 if none was set. [context]
ADVSTEP_API aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority);

/// Returns the flags with which the stream was created. [context]
ADVSTEP_API aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags);

/// Returns the range of priorities: 7 is the least, 0 the greatest.
ADVSTEP_API aclError aclrtDeviceGetStreamPriorityRange(int32_t* leastPriority,
                                                       int32_t* greatestPriority);

/// Sets one attribute to the value in its member of *value. [context]
///
///     FAILURE_MODE          failureMode: as aclrtSetStreamFailureMode, once per stream
///     FLOAT_OVERFLOW_CHECK  overflowSwitch: 0 or 1
///     USER_CUSTOM_TAG       userCustomTag: any number
///     CACHE_OP_INFO         cacheOpInfoSwitch: 0 or 1
///     PRIORITY              streamPriority: 0 to 7
///
/// The stream keeps all attributes; only the failure mode has an effect.
/// @retval ACL_ERROR_RT_PARAM_INVALID  stmAttrType is not a value of aclrtStreamAttr, the value is
///                                     out of range, or the stream's failure mode was set before
ADVSTEP_API aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                             aclrtStreamAttrValue* value);

/// Returns one attribute in its member of *value; the rest of *value is 0. A new stream has the
/// failure mode of its context and the priority with which it was created; its other attributes are
/// 0. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  stmAttrType is not a value of aclrtStreamAttr
ADVSTEP_API aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                             aclrtStreamAttrValue* value);

/// Returns the number of streams that the process can still create. [context]
ADVSTEP_API aclError aclrtGetStreamAvailableNum(uint32_t* streamCount);

/// Keeps information about the operator of the thread's last task, for a profiler that reads it
/// when the task runs. There is none, so that these calls check their arguments and have no effect.
/// @param[in] infoSize  bytes; >= 1, else ACL_ERROR_INVALID_PARAM
ADVSTEP_API aclError aclrtCacheLastTaskOpInfo(const void* const infoPtr, const size_t infoSize);
ADVSTEP_API aclError aclrtCacheLastTaskExtendInfo(const char* const extendInfoPtr,
                                                  const size_t infoSize);

/// Queues a mark for a profiler: a task in stream order without an effect. [context]
/// @param[in] length  bytes at userdata; >= 1
/// @retval ACL_ERROR_RT_PARAM_INVALID  length is 0 or less
ADVSTEP_API aclError aclrtProfTrace(void* userdata, int32_t length, aclrtStream stream);

/// Registers a callback for the creation and the destruction of streams. The library calls
/// callback(stream, state, args) with the stream's context current, on the thread that creates or
/// destroys the stream:
///   - with ACL_RT_STREAM_STATE_CREATE_POST after a stream was created,
///   - with ACL_RT_STREAM_STATE_DESTROY_PRE before a stream is destroyed by
///     aclrtDestroyStream(Force), with its context, with its device or by aclFinalize. The stream
///     can still be used.
///
/// Default streams cause no calls. Callbacks of several names are called in the order of their
/// registration. A callback with a registered name replaces the earlier one of that name.
/// Exceptions of a callback are logged and dropped. aclFinalize removes all callbacks.
///
/// @param[in] regName   name of the callback
/// @param[in] callback  NULL removes the name; a call in progress in another thread may end later
/// @param[in] args      passed to callback; may be NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID  callback is NULL, and no callback has that name
ADVSTEP_API aclError aclrtRegStreamStateCallback(const char* regName,
                                                 aclrtStreamStateCallback callback, void* args);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_STREAM_H_ */
