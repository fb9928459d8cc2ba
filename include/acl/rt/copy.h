/// Copies and fills. Rules for every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_COPY_H_
#define ADVSTEP_ACL_RT_COPY_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#endif  /* ADVSTEP_ACL_RT_COPY_H_ */
