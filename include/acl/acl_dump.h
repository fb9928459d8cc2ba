// SPDX-License-Identifier: Apache-2.0
/// Files of dumps, which this device refuses.
///
/// Every call here has no effect and looks at no argument: it returns
/// ACL_ERROR_RT_FEATURE_NOT_SUPPORT, or NULL or 0 if it returns no code, and aclGetRecentErrMsg()
/// says why. The values of the enumerations are unknown to this project, so they have no names.
#ifndef ADVSTEP_ACL_ACL_DUMP_H_
#define ADVSTEP_ACL_ACL_DUMP_H_

#include "acl/acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t acldumpType;
typedef struct acldumpTensorInfo acldumpTensorInfo;

ADVSTEP_API aclError acldumpGetExceptionInfoPath(char* path, size_t maxLen);
ADVSTEP_API const char* acldumpGetPath(acldumpType dumpType);
ADVSTEP_API aclError acldumpSaveExceptionInfo(const char* fileName, const char* userTag,
                                              const acldumpTensorInfo* tensors, size_t tensorCount);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_ACL_DUMP_H_ */
