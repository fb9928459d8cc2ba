/// Addresses without memory, memory without an address, and the mapping of one to the other. Rules
/// for every call: acl/acl_rt.h.
///
/// Sizes, offsets and addresses are multiples of the granularity, 2 MiB. What is mapped is device
/// memory of the device whose physical memory it is; neighbouring mappings of one device in one
/// reservation are one allocation to copies, fills and tensors. A reset of a device takes its
/// physical memory, its reservations and what is mapped of them or in them.
#ifndef ADVSTEP_ACL_RT_VIRTUAL_MEMORY_H_
#define ADVSTEP_ACL_RT_VIRTUAL_MEMORY_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Reserves a range of addresses for the current context's device. Nothing may be read or written
/// there until memory is mapped. [context]
/// @param[in] size       bytes; >= 1, else ACL_ERROR_INVALID_PARAM
/// @param[in] alignment  of the range: 0 for the granularity, or a power of two
/// @param[in] expectPtr  where to begin if that is free, aligned; NULL: anywhere
/// @param[in] flags      0, or 1 for large pages; the same here
/// @retval ACL_ERROR_RT_PARAM_INVALID      size, alignment, expectPtr or flags is none of these
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION  the host has no such range free
ADVSTEP_API aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment,
                                            void* expectPtr, uint64_t flags);

/// Gives a reserved range back, when the work queued before this call has run.
/// @retval ACL_ERROR_INVALID_PARAM     virPtr is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID  virPtr is not the start of a reserved range; memory is
///                                     mapped in it
ADVSTEP_API aclError aclrtReleaseMemAddress(void* virPtr);

/// Allocates physical memory of a device, which counts as its memory from now on. [context]
/// @param[in] size   bytes; >= 1, else ACL_ERROR_INVALID_PARAM
/// @param[in] prop   handleType NONE, allocationType PINNED, any memAttr, and the location: a
///                   device with its id. reserve is not looked at.
/// @param[in] flags  0
/// @retval ACL_ERROR_INVALID_PARAM           handle or prop is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID        size, prop or flags is none of these
/// @retval ACL_ERROR_RT_INVALID_DEVICEID     no such device
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  handleType is POSIX: memory is not shared between
///                                           processes
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION    more than is free
ADVSTEP_API aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                                         const aclrtPhysicalMemProp* prop, uint64_t flags);

/// Frees a handle. The memory goes back with its last mapping, or at once if it is not mapped.
ADVSTEP_API aclError aclrtFreePhysical(aclrtDrvMemHandle handle);

/// Maps size bytes of physical memory, from offset on, at addresses of one reservation. The same
/// memory may be mapped more than once. Waits if work that was queued before an aclrtUnmapMem still
/// uses what was mapped there.
/// @param[in] size   bytes; >= 1, else ACL_ERROR_INVALID_PARAM
/// @param[in] flags  0
/// @retval ACL_ERROR_INVALID_PARAM           virPtr or handle is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID        virPtr, size, offset or flags is none of these; the
///                                           range is not inside one reservation, meets another
///                                           mapping, or is more than the handle has
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  it would have to wait inside a host function
/// @retval ACL_ERROR_RT_MEMORY_ALLOCATION    the host cannot map it
ADVSTEP_API aclError aclrtMapMem(void* virPtr, size_t size, size_t offset,
                                 aclrtDrvMemHandle handle, uint64_t flags);

/// Takes one mapping out, whole. Returns at once, and is safe while queued work uses the memory: it
/// stays until the work queued before this call has run.
/// @retval ACL_ERROR_INVALID_PARAM     virPtr is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID  virPtr is not the start of a mapping
ADVSTEP_API aclError aclrtUnmapMem(void* virPtr);

/// The granularity of sizes and addresses: 2 MiB for every property and option.
/// @param[in] prop    as aclrtMallocPhysical, with its codes
/// @param[in] option  MINIMUM or RECOMMENDED, else ACL_ERROR_RT_PARAM_INVALID
/// @retval ACL_ERROR_INVALID_PARAM  prop or granularity is NULL
ADVSTEP_API aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop,
                                                      aclrtMemGranularityOptions option,
                                                      size_t* granularity);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_VIRTUAL_MEMORY_H_ */
