/// Streams. Rules for every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_STREAM_H_
#define ADVSTEP_ACL_RT_STREAM_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/// A number that no other stream of the process has, before or after. [context]
ADVSTEP_API aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId);

/// Priority of the stream; 0 unless it was given another. [context]
ADVSTEP_API aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority);

/// Flags with which the stream was created. [context]
ADVSTEP_API aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags);

/// Range of priorities: 7 is the least, 0 the greatest.
ADVSTEP_API aclError aclrtDeviceGetStreamPriorityRange(int32_t* leastPriority,
                                                       int32_t* greatestPriority);

/// Sets one attribute, from its member of *value. [context]
///
///     FAILURE_MODE          failureMode: as aclrtSetStreamFailureMode, once per stream
///     FLOAT_OVERFLOW_CHECK  overflowSwitch: 0 or 1
///     USER_CUSTOM_TAG       userCustomTag: any
///     CACHE_OP_INFO         cacheOpInfoSwitch: 0 or 1
///     PRIORITY              streamPriority: 0 to 7
///
/// All but the failure mode are only kept: they change no result.
/// @retval ACL_ERROR_RT_PARAM_INVALID  no aclrtStreamAttr, a value out of range, or the stream's
///                                     failure mode was set before
ADVSTEP_API aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                             aclrtStreamAttrValue* value);

/// One attribute, in its member of *value; the rest of *value is 0. Of a new stream all are 0 but
/// the failure mode, which is its context's, and the priority it was created with. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  no aclrtStreamAttr
ADVSTEP_API aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                             aclrtStreamAttrValue* value);

/// How many more streams the process can have. [context]
ADVSTEP_API aclError aclrtGetStreamAvailableNum(uint32_t* streamCount);

/// From now on calls callback(stream, state, args), on the thread that makes the call, with the
/// stream's context current
///   - with ACL_RT_STREAM_STATE_CREATE_POST when a stream has been created,
///   - with ACL_RT_STREAM_STATE_DESTROY_PRE before one is destroyed: by aclrtDestroyStream(Force),
///     with its context, with its device or by aclFinalize. The stream can still be used.
/// Default streams are not told of. Callbacks with several names are called in the order of their
/// registration; one with a known name takes the place of that name's. Exceptions of a callback
/// are logged and dropped. aclFinalize forgets all callbacks.
///
/// @param[in] regName   name of the callback
/// @param[in] callback  NULL takes the name away; a call under way in another thread may end later
/// @param[in] args      handed to callback; may be NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID  callback is NULL and the name has none
ADVSTEP_API aclError aclrtRegStreamStateCallback(const char* regName,
                                                 aclrtStreamStateCallback callback, void* args);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_STREAM_H_ */
