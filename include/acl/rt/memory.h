/// Memory and copies. Rules for every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_MEMORY_H_
#define ADVSTEP_ACL_RT_MEMORY_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#endif  /* ADVSTEP_ACL_RT_MEMORY_H_ */
