/// Errors of the thread, and what the runtime is. Rules for every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_IDENTITY_H_
#define ADVSTEP_ACL_RT_IDENTITY_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The code of the thread's most recent failed acl or aclrt call; 0 if there is none. Stays set.
/// @retval ACL_ERROR_RT_PARAM_INVALID  level is not ACL_RT_THREAD_LEVEL
ADVSTEP_API aclError aclrtPeekAtLastError(aclrtLastErrLevel level);

/// As aclrtPeekAtLastError, and clears it.
ADVSTEP_API aclError aclrtGetLastError(aclrtLastErrLevel level);

/// The interface's version: ACL_MAJOR_VERSION, ACL_MINOR_VERSION, ACL_PATCH_VERSION of acl.h.
ADVSTEP_API aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion,
                                     int32_t* patchVersion);

/// Name of the emulated SoC (setting ADVANCE_STEP_SOC); NULL when the settings are not valid.
/// @return text valid until the runtime is ended
ADVSTEP_API const char* aclrtGetSocName(void);

/// Always ACL_HOST: the caller runs on the host's CPU, beside the emulated device.
ADVSTEP_API aclError aclrtGetRunMode(aclrtRunMode* runMode);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_IDENTITY_H_ */
