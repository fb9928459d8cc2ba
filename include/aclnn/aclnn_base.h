/// Start and end of the operator layer.
#ifndef ADVSTEP_ACLNN_ACLNN_BASE_H_
#define ADVSTEP_ACLNN_ACLNN_BASE_H_

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Optional; checks the settings as aclInit does, and holds no reference. May be repeated.
/// @param[in] configPath  JSON file as for aclInit; NULL or "" for none
/// @retval ACLNN_SUCCESS
/// @retval ACLNN_ERR_PARAM_INVALID  the file or a setting is not valid; the message says which
ADVSTEP_API aclnnStatus aclnnInit(const char* configPath);

/// Optional; ends nothing that is in use. Always ACLNN_SUCCESS.
ADVSTEP_API aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACLNN_ACLNN_BASE_H_ */
