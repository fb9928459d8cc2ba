// SPDX-License-Identifier: Apache-2.0
/// Reporting of failed tasks. Rules for every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_EXCEPTION_H_
#define ADVSTEP_ACL_RT_EXCEPTION_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Registers a callback for failed tasks. The library calls callback(info) for every task that
/// fails in any stream, for instance an operator that met bad data or a host function that threw.
/// The thread that ran the task makes the call, with the stream's context current and in the
/// default floating-point environment, before the task counts as ended. A synchronisation that
/// reports the failure returns after the callback.
///
/// The callback may make acl calls under the rules of a host function of that stream: a call that
/// would wait for the stream returns ACL_ERROR_RT_FEATURE_NOT_SUPPORT. Exceptions of the callback
/// are logged and dropped. A synchronisation still reports the failure. aclFinalize removes the
/// callback.
///
/// @param[in] callback  replaces an earlier one; NULL removes it, but a call in progress in another
///                      thread may end later
ADVSTEP_API aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback);

/// Adds a callback for failed tasks to that of aclrtSetExceptionInfoCallback, under the same rules.
/// It is called after that one. A callback that is registered already stays registered once.
/// aclFinalize removes all callbacks.
/// @retval ACL_ERROR_RT_RESOURCE_ALLOC_FAIL  16 callbacks are registered
ADVSTEP_API aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback);

/// Removes a callback; a call in progress in another thread may end later.
/// @retval ACL_ERROR_RT_PARAM_INVALID  callback is not registered
ADVSTEP_API aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback);

/// Returns the low 32 bits of the task's number in its stream. A new stream may continue the
/// numbers of one that was destroyed. This call and the next four return 0xFFFFFFFF for NULL. info
/// is valid only during the callback.
ADVSTEP_API uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info);

/// Returns the stream's number, as aclrtStreamGetId does.
ADVSTEP_API uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info);

/// Returns the operating system's number of the thread that ran the task.
ADVSTEP_API uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info);

/// Returns the number of the stream's device.
ADVSTEP_API uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info);

/// Returns the code of the failure, such as ACL_ERROR_RT_VECTOR_CORE_EXCEPTION. The synchronisation
/// that reports the failure returns the same code.
ADVSTEP_API uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_EXCEPTION_H_ */
