// SPDX-License-Identifier: Apache-2.0
/// The thread's last error, and the version and identity of the runtime. Rules for every call:
/// acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_IDENTITY_H_
#define ADVSTEP_ACL_RT_IDENTITY_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Returns the code of the thread's most recent failed call of the runtime, which are those named
/// aclrt and aclmdlRI, or 0 if there is none. The code stays set.
/// @retval ACL_ERROR_RT_PARAM_INVALID  level is not ACL_RT_THREAD_LEVEL
ADVSTEP_API aclError aclrtPeekAtLastError(aclrtLastErrLevel level);

/// As aclrtPeekAtLastError, but also clears the code.
ADVSTEP_API aclError aclrtGetLastError(aclrtLastErrLevel level);

/// Returns the interface's version: ACL_MAJOR_VERSION, ACL_MINOR_VERSION, ACL_PATCH_VERSION of
/// acl.h.
ADVSTEP_API aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion,
                                     int32_t* patchVersion);

/// Returns the name of the emulated SoC (setting ADVANCE_STEP_SOC), or NULL if the settings are not
/// valid. The text is valid until the runtime ends.
ADVSTEP_API const char* aclrtGetSocName(void);

/// Reports whether code for a SoC can run on this device.
/// @param[in]  socVersion     the name of a SoC, as aclrtGetSocName returns it
/// @param[out] canCompatible  1 for a SoC that ADVANCE_STEP_SOC knows, all of one architecture; 0
///                            for another name
ADVSTEP_API aclError aclrtCheckArchCompatibility(const char* socVersion, int32_t* canCompatible);

/// Returns ACL_HOST: the caller runs on the host's CPU, not on the emulated device.
ADVSTEP_API aclError aclrtGetRunMode(aclrtRunMode* runMode);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_RT_IDENTITY_H_ */
