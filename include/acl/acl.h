// SPDX-License-Identifier: Apache-2.0
/// The runtime in one include: initialisation, and all that acl_base.h, acl_rt.h, acl_op.h and
/// acl_mdl.h declare.
#ifndef ADVSTEP_ACL_ACL_H_
#define ADVSTEP_ACL_ACL_H_

#include "acl/acl_base.h"
#include "acl/acl_mdl.h"
#include "acl/acl_op.h"
#include "acl/acl_rt.h"

#define ACL_MAJOR_VERSION 1
#define ACL_MINOR_VERSION 17
#define ACL_PATCH_VERSION 0

#ifdef __cplusplus
extern "C" {
#endif

/// Reads the settings of the emulated machine and starts the runtime. The call is optional: without
/// it, the first use of a device reads the settings.
///
/// An environment variable (ADVANCE_STEP_*, see docs/runtime.md) takes precedence over the same
/// setting in the object "advance_step" of the JSON file.
///
/// @param[in] configPath  JSON file; NULL or "" for none
/// @retval ACL_SUCCESS                     the first reference
/// @retval ACL_ERROR_REPEAT_INITIALIZE     the runtime is initialised already: the call adds one
///                                         reference and reads nothing
/// @retval ACL_ERROR_INVALID_FILE          the file cannot be read
/// @retval ACL_ERROR_PARSE_FILE            the file is not a JSON object
/// @retval ACL_ERROR_FILE_ATTR_INVALID     a setting has an invalid value: the runtime does not
///                                         start
/// @retval ACL_ERROR_INTERNAL_ERROR        "defaultDevice" in the file names no device
ADVSTEP_API aclError aclInit(const char* configPath);

/// Ends the runtime, whatever the number of references: waits for pending work, destroys every
/// context, stream and event, and frees all device memory and pinned host memory. aclInit may
/// follow.
///
/// @retval ACL_SUCCESS                       the runtime has ended
/// @retval ACL_ERROR_REPEAT_FINALIZE         the runtime is not initialised
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  called from a host function
ADVSTEP_API aclError aclFinalize(void);

/// Removes one reference of aclInit. The last one ends the runtime, as aclFinalize does.
///
/// @param[out] refCount  number of references that are left; may be NULL
/// @retval ACL_SUCCESS                       the reference is removed
/// @retval ACL_ERROR_REPEAT_FINALIZE         the runtime is not initialised
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  called from a host function
ADVSTEP_API aclError aclFinalizeReference(uint64_t* refCount);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_ACL_H_ */
