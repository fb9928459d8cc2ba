/// What is told of tasks that fail. Rules for every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_EXCEPTION_H_
#define ADVSTEP_ACL_RT_EXCEPTION_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// From now on calls callback(info) for every task that fails, in any stream: an operator that met
/// bad data, a host function that threw. The thread that ran the task calls it, with the stream's
/// context current, before the task counts as ended: a synchronisation that reports the failure
/// returns after it.
///
/// The callback may make acl calls, under the rules of a host function of that stream: what waits
/// for the stream is ACL_ERROR_RT_FEATURE_NOT_SUPPORT. Exceptions of it are logged and dropped.
/// The failure stays for the synchronisation to report. aclFinalize forgets the callback.
///
/// @param[in] callback  takes the place of an earlier one; NULL: none from now on, but a call under
///                      way in another thread may end later
ADVSTEP_API aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback);

/// Place of the task among all that the stream has had, counted through the lives of the stream's
/// slot; the low 32 bits. This and the next four: 0xFFFFFFFF for NULL; info is valid during the
/// callback.
ADVSTEP_API uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info);

/// As aclrtStreamGetId.
ADVSTEP_API uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info);

/// The operating system's number of the thread that ran the task.
ADVSTEP_API uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info);

/// The device of the stream.
ADVSTEP_API uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info);

/// The code that the synchronisation will return, such as ACL_ERROR_RT_VECTOR_CORE_EXCEPTION.
ADVSTEP_API uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_EXCEPTION_H_ */
