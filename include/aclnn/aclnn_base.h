// SPDX-License-Identifier: Apache-2.0
/// Start and end of the operator layer.
#ifndef ADVSTEP_ACLNN_ACLNN_BASE_H_
#define ADVSTEP_ACLNN_ACLNN_BASE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Checks the settings as aclInit does, and adds no reference. The call is optional and may be
/// repeated.
/// @param[in] configPath  JSON file as for aclInit; NULL or "" for none
/// @retval ACLNN_SUCCESS
/// @retval ACLNN_ERR_PARAM_INVALID  the file or a setting is not valid; the message names it
ADVSTEP_API aclnnStatus aclnnInit(const char* configPath);

/// Does nothing and returns ACLNN_SUCCESS. The call is optional.
ADVSTEP_API aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACLNN_ACLNN_BASE_H_ */
