// SPDX-License-Identifier: Apache-2.0
/// Device and host memory. Rules for every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_MEMORY_H_
#define ADVSTEP_ACL_RT_MEMORY_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Allocates device memory. The address is a multiple of 512. For 4096 bytes and more it is a
/// multiple of 4096 (except with ADVANCE_STEP_GUARD), and for 2 MiB and more a multiple of 2 MiB.
/// The contents are undefined. Upstream rounds the size up; here no byte beyond `size` is usable.
/// [context]
/// @param[in] size    bytes; >= 1, else ACL_ERROR_INVALID_PARAM
/// @param[in] policy  a page policy, or-ed with memory-type bits; all denote the same memory here
/// @retval ACL_ERROR_RT_PARAM_INVALID      policy is unknown
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION  the device has less than size bytes free
ADVSTEP_API aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/// As aclrtMalloc.
ADVSTEP_API aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/// Frees device memory. Work that was queued before this call may still use the memory: it returns
/// to the device when all such work that may use it has run (docs/runtime.md describes that work).
/// @retval ACL_ERROR_INVALID_PARAM     devPtr is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID  devPtr is not the start of a live device allocation
ADVSTEP_API aclError aclrtFree(void* devPtr);

/// Waits for the work that is queued on the memory's device, then frees the memory. A later
/// synchronisation reports failures of that work. The codes are those of aclrtFree and:
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  called from a host function
ADVSTEP_API aclError aclrtFreeWithDevSync(void* devPtr);

/// Allocates pinned host memory. The address is a multiple of 4096. An asynchronous copy returns
/// before it has run only if its host memory is pinned. [context]
/// @retval ACL_ERROR_INVALID_PARAM         hostPtr is NULL or size is 0
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION  the host has not enough memory
ADVSTEP_API aclError aclrtMallocHost(void** hostPtr, size_t size);

/// Frees pinned host memory. The codes and the effect on queued work are those of aclrtFree.
ADVSTEP_API aclError aclrtFreeHost(void* hostPtr);

/// Waits for the work that is queued on all devices, then frees the memory. A later synchronisation
/// reports failures of that work. The codes are those of aclrtFreeHost and:
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  called from a host function
ADVSTEP_API aclError aclrtFreeHostWithDevSync(void* hostPtr);

/// Pins memory of the program until aclrtHostUnregister or the end of the runtime. Copies and fills
/// then treat it as memory of aclrtMallocHost. Copies and tensors also accept it as device memory.
/// The program must unregister the memory before it frees it. A range inside one block of
/// aclrtMallocHost may be registered too; the free of the block ends such a registration. [context]
/// @param[in]  ptr     start of the range; a multiple of 4096, since devices map whole pages
/// @param[in]  size    bytes; >= 1, else ACL_ERROR_INVALID_PARAM
/// @param[in]  type    an aclrtHostRegisterType; all mean the same here
/// @param[out] devPtr  the range's address on every device, which is ptr
/// @retval ACL_ERROR_RT_PARAM_INVALID                type is unknown; ptr is not a multiple of
///                                                   4096; part of the range is device memory, is
///                                                   reserved or is not mapped
/// @retval ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED  part of the range is registered, or is of
///                                                   aclrtMallocHost and not inside one block
ADVSTEP_API aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type,
                                       void** devPtr);

/// Waits for the work that is queued in all streams, and ends a registration. The program may free
/// the memory afterwards.
/// @retval ACL_ERROR_INVALID_PARAM               ptr is NULL
/// @retval ACL_ERROR_HOST_MEMORY_NOT_REGISTERED  ptr is not the start of a registered range
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT      called from a host function, or a stream waits for
///                                               a callback of the calling thread
ADVSTEP_API aclError aclrtHostUnregister(void* ptr);

/// Reports the kind of memory at an address. Any address is allowed; the memory is not accessed.
/// @param[out] attributes  location.type: DEVICE; HOST for memory of aclrtMallocHost and registered
///                         memory; UNREGISTERED for all other addresses. location.id: the device's
///                         number, or 0. pageSize, in bytes: 2 MiB for mapped memory and for device
///                         allocations of 2 MiB or more, otherwise the host's page size. rsv: 0.
/// @retval ACL_ERROR_INVALID_PARAM  ptr or attributes is NULL
ADVSTEP_API aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes);

/// Writes the device's cache back to memory, or drops it. The emulated device has no cache of its
/// own, so these calls check the range and have no effect.
/// @param[in] size  bytes; >= 1, else ACL_ERROR_INVALID_PARAM
/// @retval ACL_ERROR_RT_PARAM_INVALID  the range is not inside one allocation
ADVSTEP_API aclError aclrtMemFlush(void* devPtr, size_t size);
ADVSTEP_API aclError aclrtMemInvalidate(void* devPtr, size_t size);

/// Lets another device use memory. The emulated devices share the host's memory, so the call checks
/// its arguments and has no effect.
/// @param[in] size   bytes; >= 1, else ACL_ERROR_INVALID_PARAM
/// @param[in] flags  0
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  dstDevId is not in [0, device count)
/// @retval ACL_ERROR_RT_PARAM_INVALID     flags is not 0; the range is not inside one allocation
ADVSTEP_API aclError aclrtMemP2PMap(void* devPtr, size_t size, int32_t dstDevId, uint64_t flags);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_RT_MEMORY_H_ */
