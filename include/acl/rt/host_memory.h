// SPDX-License-Identifier: Apache-2.0
/// Registration of host memory by flags, and its address on devices. Rules for every call:
/// acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_HOST_MEMORY_H_
#define ADVSTEP_ACL_RT_HOST_MEMORY_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_HOST_REG_MAPPED 2UL          /* kernels may use the memory */
#define ACL_HOST_REG_IOMEMORY 4UL        /* not supported */
#define ACL_HOST_REG_READONLY 8UL        /* not supported */
#define ACL_HOST_REG_PINNED 0x10000000UL /* asynchronous copies return before they have run */

/// The engines of a device that may access mapped host memory.
typedef enum {
    ACL_RT_HAC_TYPE_STARS = 0,
    ACL_RT_HAC_TYPE_AICPU = 1,
    ACL_RT_HAC_TYPE_AIC = 2,
    ACL_RT_HAC_TYPE_AIV = 3,
    ACL_RT_HAC_TYPE_PCIEDMA = 4,
    ACL_RT_HAC_TYPE_RDMA = 5,
    ACL_RT_HAC_TYPE_SDMA = 6,
    ACL_RT_HAC_TYPE_DVPP = 7,
    ACL_RT_HAC_TYPE_UDMA = 8,
    ACL_RT_HAC_TYPE_CCU = 9
} aclrtHacType;

typedef enum {
    ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED = 0,
    ACL_RT_HOST_MEM_MAP_SUPPORTED = 1
} aclrtHostMemMapCapability;

/// Registers host memory until aclrtHostUnregister, the end of the runtime or, inside a block of
/// aclrtMallocHost, the free of the block. [context]
/// @param[in] ptr   start of the range; a multiple of 4096 if flag has MAPPED
/// @param[in] size  bytes; >= 1, else ACL_ERROR_INVALID_PARAM
/// @param[in] flag  ACL_HOST_REG_MAPPED, ACL_HOST_REG_PINNED or both
/// @retval ACL_ERROR_RT_PARAM_INVALID                flag is 0 or has an unknown bit; flag has
///                                                   MAPPED, and ptr is not a multiple of 4096;
///                                                   part of the range is device memory, is
///                                                   reserved or is not mapped; flag has PINNED,
///                                                   and the range is pinned already as memory of
///                                                   aclrtMallocHost
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT          flag has IOMEMORY or READONLY
/// @retval ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED  part of the range is registered, or is of
///                                                   aclrtMallocHost and not inside one block
ADVSTEP_API aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag);

/// Returns the address of registered host memory on devices, which is the host's address.
/// @param[in] pHost  an address in a range that is registered with ACL_HOST_REG_MAPPED, or by
///                   aclrtHostRegister
/// @param[in] flag   0, else ACL_ERROR_INVALID_PARAM
/// @retval ACL_ERROR_HOST_MEMORY_NOT_REGISTERED  pHost is in no such range
ADVSTEP_API aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag);

/// Reports whether an engine of the device can access mapped host memory. STARS, AICPU, AIC, AIV,
/// PCIEDMA and SDMA can.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
/// @retval ACL_ERROR_INVALID_PARAM        capabilities is NULL; hacType is no aclrtHacType
ADVSTEP_API aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType,
                                                 aclrtHostMemMapCapability* capabilities);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_RT_HOST_MEMORY_H_ */
