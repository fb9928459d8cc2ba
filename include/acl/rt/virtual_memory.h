// SPDX-License-Identifier: Apache-2.0
/// Addresses without memory, memory without an address, and the mapping of one to the other. Rules
/// for every call: acl/acl_rt.h.
///
/// Sizes, offsets and addresses are multiples of the granularity, 2 MiB; only the size of a
/// reservation may be any number. No call needs a current context. A mapping is memory of the
/// device that owns the physical memory; one of the host's memory is pinned host memory, which
/// every device can use. Copies, fills and tensors treat neighbouring mappings of one owner in one
/// reservation as one allocation. A reset of a device frees its physical memory and its
/// reservations, and removes all mappings of that memory and in those reservations.
#ifndef ADVSTEP_ACL_RT_VIRTUAL_MEMORY_H_
#define ADVSTEP_ACL_RT_VIRTUAL_MEMORY_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Reserves a range of addresses for the current context's device. If the thread has no current
/// context, the range belongs to no device and ends with the runtime. The range must not be read or
/// written until memory is mapped.
/// @param[in] size       bytes; >= 1, else ACL_ERROR_INVALID_PARAM; rounded up to the granularity
/// @param[in] alignment  0, or a power of two that the start of the range is a multiple of
/// @param[in] expectPtr  start of the range: a multiple of size rounded up to a power of two, but
///                       of 1 GiB if size is larger; NULL: any such address
/// @param[in] flags      0, or 1 for large pages, which mean the same here; else
///                       ACL_ERROR_INVALID_PARAM
/// @retval ACL_ERROR_RT_PARAM_INVALID      alignment or expectPtr is not as above, or part of the
///                                         range at expectPtr is in use
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION  the host has no such range free
ADVSTEP_API aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment,
                                            void* expectPtr, uint64_t flags);

/// Releases a reserved range when the work queued before this call has run.
/// @retval ACL_ERROR_INVALID_PARAM     virPtr is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID  virPtr is not the start of a reserved range; memory is
///                                     mapped in it
ADVSTEP_API aclError aclrtReleaseMemAddress(void* virPtr);

/// Allocates physical memory of a device, which counts as used memory of the device, or of the
/// host, which lasts until the end of the runtime.
/// @param[in] size   bytes; >= 1, else ACL_ERROR_INVALID_PARAM
/// @param[in] prop   handleType NONE, allocationType PINNED, any memAttr, and as location DEVICE
///                   with its id, HOST or HOST_NUMA with any id; reserve is ignored
/// @param[in] flags  0
/// @retval ACL_ERROR_INVALID_PARAM           handle or prop is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID        size, prop or flags is not as above
/// @retval ACL_ERROR_RT_INVALID_DEVICEID     the id in prop is not in [0, device count)
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  handleType is POSIX (acl/rt/shared_memory.h shares
///                                           memory of type NONE)
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION    the device has less than size bytes free, or the host
///                                           cannot hold so many
ADVSTEP_API aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                                         const aclrtPhysicalMemProp* prop, uint64_t flags);

/// Frees a handle. The memory is freed when its last mapping is removed, or at once if there is
/// none.
ADVSTEP_API aclError aclrtFreePhysical(aclrtDrvMemHandle handle);

/// Maps size bytes of physical memory, starting at offset, to addresses of one reservation. The
/// same memory may be mapped more than once; a copy whose sides share bytes at different addresses
/// then has arbitrary results. If the range was mapped before, the call waits for the work that was
/// queued before its aclrtUnmapMem.
/// @param[in] size   bytes; >= 1, else ACL_ERROR_INVALID_PARAM
/// @param[in] flags  0
/// @retval ACL_ERROR_INVALID_PARAM           virPtr or handle is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID        virPtr, size, offset or flags is not as above; the
///                                           range is not inside one reservation, overlaps another
///                                           mapping, or exceeds the memory of the handle
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  the call would have to wait inside a host function
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION    the host cannot map it
ADVSTEP_API aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                                 uint64_t flags);

/// Removes one whole mapping. The call returns at once. Queued work may still use the memory: it
/// stays mapped until the work queued before this call has run.
/// @retval ACL_ERROR_INVALID_PARAM     virPtr is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID  virPtr is not the start of a mapping
ADVSTEP_API aclError aclrtUnmapMem(void* virPtr);

/// Returns the granularity of sizes and addresses: 2 MiB for every property and option.
/// @param[in] prop    as for aclrtMallocPhysical, with its codes
/// @param[in] option  MINIMUM or RECOMMENDED, else ACL_ERROR_RT_PARAM_INVALID
/// @retval ACL_ERROR_INVALID_PARAM  prop or granularity is NULL
ADVSTEP_API aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop,
                                                      aclrtMemGranularityOptions option,
                                                      size_t* granularity);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_RT_VIRTUAL_MEMORY_H_ */
