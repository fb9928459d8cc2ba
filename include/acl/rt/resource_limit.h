// SPDX-License-Identifier: Apache-2.0
/// Limits on the cores that operators and kernels may use. Rules for every call: acl/acl_rt.h.
///
/// The phase-one calls of operators split their work among the vector cores that the limit allows.
/// Results do not change. Plans of conformance exact always use the SoC's number of cores. No
/// operator uses cube cores; kernels of the program may. The first of these that is set applies,
/// for each type:
///   - the limit of the stream whose limits the thread uses (aclrtUseStreamResInCurrentThread), for
///     plans on that stream's device
///   - the limit of the device
///   - the cores of the SoC
#ifndef ADVSTEP_ACL_RT_RESOURCE_LIMIT_H_
#define ADVSTEP_ACL_RT_RESOURCE_LIMIT_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Sets a limit of a device, until the device is reset or the runtime ends.
/// @param[in] value  from 1 to the number of cores of that type in the SoC
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   deviceId is not in [0, device count)
/// @retval ACL_ERROR_RT_PARAM_INVALID      type is not a value of aclrtDevResLimitType, or value is
///                                         out of range
ADVSTEP_API aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
                                            uint32_t value);

/// Returns the device's limit, or the cores of the SoC if no limit is set.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   deviceId is not in [0, device count)
/// @retval ACL_ERROR_RT_PARAM_INVALID      type is not a value of aclrtDevResLimitType
ADVSTEP_API aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
                                            uint32_t* value);

/// Removes the device's limits of both types.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   deviceId is not in [0, device count)
ADVSTEP_API aclError aclrtResetDeviceResLimit(int32_t deviceId);

/// Sets a limit of a stream, until the stream is destroyed. The limit applies to threads that use
/// the stream's limits. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  as aclrtSetDeviceResLimit
ADVSTEP_API aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
                                            uint32_t value);

/// Returns the stream's limit, or the result of aclrtGetDeviceResLimit if no limit is set.
/// [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  type is not a value of aclrtDevResLimitType
ADVSTEP_API aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
                                            uint32_t* value);

/// Removes the stream's limits of both types. [context]
ADVSTEP_API aclError aclrtResetStreamResLimit(aclrtStream stream);

/// Makes the calling thread use the limits that the stream has at the time of each phase-one call.
/// The use lasts until the thread uses another stream's limits or ends the use, or until the stream
/// is destroyed. [context]
ADVSTEP_API aclError aclrtUseStreamResInCurrentThread(aclrtStream stream);

/// Ends the use of a stream's limits. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  the calling thread does not use that stream's limits
ADVSTEP_API aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream);

/// Returns the number of cores that the calling thread may use now, on the current context's
/// device. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  type is not a value of aclrtDevResLimitType
ADVSTEP_API aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_RESOURCE_LIMIT_H_ */
