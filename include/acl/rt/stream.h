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

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_STREAM_H_ */
