/// Device and host memory. Rules for every call: acl/acl_rt.h.
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

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_MEMORY_H_ */
