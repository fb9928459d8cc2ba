// SPDX-License-Identifier: Apache-2.0
/// Contexts. Rules for every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_CONTEXT_H_
#define ADVSTEP_ACL_RT_CONTEXT_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Creates a context with a default stream of its own, and makes it current in the calling thread.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
ADVSTEP_API aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId);

/// Waits for the context's streams, then destroys them and the context.
/// @retval ACL_ERROR_RT_CONTEXT_NULL         the context is unknown, destroyed, or the primary
///                                           context of a device
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  called from a host function
ADVSTEP_API aclError aclrtDestroyContext(aclrtContext context);

/// Makes the context the calling thread's current one. A context may be current in several threads.
/// A call that fails does not change the current context.
/// @retval ACL_ERROR_RT_PARAM_INVALID  the context is unknown or destroyed
ADVSTEP_API aclError aclrtSetCurrentContext(aclrtContext context);

/// Returns the thread's current context. [context]
ADVSTEP_API aclError aclrtGetCurrentContext(aclrtContext* context);

/// Returns the default stream of the current context, which owns it. In calls that take a stream,
/// NULL denotes the same stream. [context]
ADVSTEP_API aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_CONTEXT_H_ */
