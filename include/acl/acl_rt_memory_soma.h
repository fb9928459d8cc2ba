// SPDX-License-Identifier: Apache-2.0
/// Memory pools, which this device refuses.
///
/// Every call here has no effect and looks at no argument: it returns
/// ACL_ERROR_RT_FEATURE_NOT_SUPPORT, or NULL or 0 if it returns no code, and aclGetRecentErrMsg()
/// says why. The values of the enumerations are unknown to this project, so they have no names.
#ifndef ADVSTEP_ACL_ACL_RT_MEMORY_SOMA_H_
#define ADVSTEP_ACL_ACL_RT_MEMORY_SOMA_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void* aclrtMemPool;
typedef int32_t aclrtMemPoolAttr;
typedef struct aclrtMemPoolProps aclrtMemPoolProps;

ADVSTEP_API aclError aclrtMemPoolCreate(aclrtMemPool* memPool, const aclrtMemPoolProps* poolProps);
ADVSTEP_API aclError aclrtMemPoolDestroy(const aclrtMemPool memPool);
ADVSTEP_API aclError aclrtMemPoolFreeAsync(void* ptr, aclrtStream stream);
ADVSTEP_API aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value);
ADVSTEP_API aclError aclrtMemPoolMallocAsync(void** ptr, size_t size, aclrtMemPool memPool,
                                             aclrtStream stream);
ADVSTEP_API aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value);
ADVSTEP_API aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_ACL_RT_MEMORY_SOMA_H_ */
