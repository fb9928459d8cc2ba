// SPDX-License-Identifier: Apache-2.0
/// Allocation with a list of attributes. Rules for every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_MEMORY_CONFIG_H_
#define ADVSTEP_ACL_RT_MEMORY_CONFIG_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    ACL_RT_MEM_ATTR_RSV = 0,
    ACL_RT_MEM_ATTR_MODULE_ID = 1, /* the module that counts the memory; no effect here */
    ACL_RT_MEM_ATTR_DEVICE_ID = 2, /* the device that is to own the memory */
    ACL_RT_MEM_ATTR_VA_FLAG = 3    /* 1: one address for host and devices, as always here */
} aclrtMallocAttrType;

/// The value of an attribute, by its aclrtMallocAttrType.
typedef union {
    uint16_t moduleId;
    uint32_t deviceId;
    uint32_t vaFlag;
    uint8_t rsv[8];
} aclrtMallocAttrValue;

typedef struct {
    aclrtMallocAttrType attr;
    aclrtMallocAttrValue value;
} aclrtMallocAttribute;

typedef struct {
    aclrtMallocAttribute* attrs;
    size_t numAttrs;
} aclrtMallocConfig;

/// As aclrtMalloc, with attributes.
/// @param[in] cfg  the attributes; NULL: none
/// @retval ACL_ERROR_INVALID_PARAM     cfg->attrs is NULL with cfg->numAttrs above 0; an attribute
///                                     is unknown
/// @retval ACL_ERROR_RT_PARAM_INVALID  ACL_RT_MEM_ATTR_DEVICE_ID is not the current context's
///                                     device
ADVSTEP_API aclError aclrtMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy policy,
                                        aclrtMallocConfig* cfg);

/// As aclrtMallocWithCfg. The emulated device has no task scheduler of its own.
ADVSTEP_API aclError aclrtMallocForTaskScheduler(void** devPtr, size_t size,
                                                 aclrtMemMallocPolicy policy,
                                                 aclrtMallocConfig* cfg);

/// As aclrtMalloc. The emulated device has no cache of its own.
ADVSTEP_API aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/// As aclrtMallocHost, with attributes as in aclrtMallocWithCfg.
ADVSTEP_API aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_MEMORY_CONFIG_H_ */
