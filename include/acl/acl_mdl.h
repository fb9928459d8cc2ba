// SPDX-License-Identifier: Apache-2.0
/// Calls on captured models, and the dump of operators.
#ifndef ADVSTEP_ACL_ACL_MDL_H_
#define ADVSTEP_ACL_ACL_MDL_H_

#include "acl/acl_base.h"
#include "acl/rt/model_ri.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Begins the dump of operators. The emulated device dumps nothing: a warning in the log says so.
/// @retval ACL_ERROR_REPEAT_INITIALIZE  the dump has begun already
ADVSTEP_API aclError aclmdlInitDump(void);

/// Checks a configuration of the dump: a JSON object with the member "dump", which is an object.
/// @retval ACL_ERROR_INVALID_PARAM        dumpCfgPath is NULL
/// @retval ACL_ERROR_DUMP_NOT_RUN         no dump has begun: aclmdlInitDump comes first
/// @retval ACL_ERROR_INVALID_FILE         the file cannot be read
/// @retval ACL_ERROR_PARSE_FILE           the file is not a JSON object
/// @retval ACL_ERROR_INVALID_DUMP_CONFIG  "dump" is missing or is not an object
ADVSTEP_API aclError aclmdlSetDump(const char* dumpCfgPath);

/// Ends the dump.
/// @retval ACL_ERROR_DUMP_NOT_RUN  no dump has begun
ADVSTEP_API aclError aclmdlFinalizeDump(void);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_ACL_MDL_H_ */
