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

/// Waits for the work that is queued on the memory's device, then frees it. What failed there is
/// still told by a synchronisation. Codes as aclrtFree.
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  inside a host function
ADVSTEP_API aclError aclrtFreeWithDevSync(void* devPtr);

/// Allocates pinned host memory, which asynchronous copies need to be asynchronous. [context]
/// @retval ACL_ERROR_INVALID_PARAM         hostPtr is NULL or size is 0
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION  the host has no such memory
ADVSTEP_API aclError aclrtMallocHost(void** hostPtr, size_t size);

/// Frees pinned host memory; codes and safety as aclrtFree.
ADVSTEP_API aclError aclrtFreeHost(void* hostPtr);

/// Pins memory of the program's own, until aclrtHostUnregister or the end of the runtime. Copies
/// and fills then take it as they take memory of aclrtMallocHost, and so do copies and tensors as
/// device memory. Unregister it before it is freed. [context]
/// @param[in]  ptr     begin of the range; any alignment
/// @param[in]  size    bytes; >= 1, else ACL_ERROR_INVALID_PARAM
/// @param[in]  type    an aclrtHostRegisterType; all mean the same here
/// @param[out] devPtr  the range's address on every device, which is ptr
/// @retval ACL_ERROR_RT_PARAM_INVALID                unknown type; part of the range is device
///                                                   memory, reserved or no memory at all
/// @retval ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED  part of the range is registered, or pinned
///                                                   by aclrtMallocHost
ADVSTEP_API aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type,
                                       void** devPtr);

/// Ends a registration, and waits for the work that is queued in any stream, so that the memory
/// may be freed.
/// @retval ACL_ERROR_INVALID_PARAM               ptr is NULL
/// @retval ACL_ERROR_HOST_MEMORY_NOT_REGISTERED  ptr is not the start of a registered range
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT      inside a host function, or a stream waits for a
///                                               callback of the calling thread
ADVSTEP_API aclError aclrtHostUnregister(void* ptr);

/// Says what memory an address lies in. Any address may be asked for; it is not touched.
/// @param[out] attributes  location: device with its id; host for pinned memory, of
///                         aclrtMallocHost or aclrtHostRegister; unregistered for everything
///                         else; id is 0 where there is no device. pageSize: bytes; 2 MiB for
///                         mapped memory and device allocations of 2 MiB or more, the host's page
///                         else. rsv: 0.
/// @retval ACL_ERROR_INVALID_PARAM  ptr or attributes is NULL
ADVSTEP_API aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_MEMORY_H_ */
