/// How many cores operators may use. Rules for every call: acl/acl_rt.h.
///
/// A limit on vector cores cuts the work of later phase-one calls finer or coarser; results do not
/// change, and conformance exact keeps to the SoC's cores. No operator uses cube cores: their limit
/// is only kept. In effect are, type by type, the first of
///   - the limit of the stream that the thread uses (aclrtUseStreamResInCurrentThread), for plans on
///     that stream's device,
///   - the limit of the device,
///   - the cores of the SoC.
#ifndef ADVSTEP_ACL_RT_RESOURCE_LIMIT_H_
#define ADVSTEP_ACL_RT_RESOURCE_LIMIT_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Limits a device, until it is reset or the runtime ended.
/// @param[in] value  1 to the cores of that type in the SoC
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   deviceId is not in [0, device count)
/// @retval ACL_ERROR_RT_PARAM_INVALID      no aclrtDevResLimitType, or value out of range
ADVSTEP_API aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
                                            uint32_t value);

/// The device's limit, or without one the cores of the SoC.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   deviceId is not in [0, device count)
/// @retval ACL_ERROR_RT_PARAM_INVALID      no aclrtDevResLimitType
ADVSTEP_API aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
                                            uint32_t* value);

/// Takes the device's limits of both types away.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   deviceId is not in [0, device count)
ADVSTEP_API aclError aclrtResetDeviceResLimit(int32_t deviceId);

/// Limits a stream, until it is destroyed. It takes effect in threads that use the stream. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  as aclrtSetDeviceResLimit
ADVSTEP_API aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
                                            uint32_t value);

/// The stream's limit, or without one what aclrtGetDeviceResLimit says. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  no aclrtDevResLimitType
ADVSTEP_API aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
                                            uint32_t* value);

/// Takes the stream's limits of both types away. [context]
ADVSTEP_API aclError aclrtResetStreamResLimit(aclrtStream stream);

/// From now on the calling thread plans with the limits that the stream has at the time of a
/// phase-one call, until it uses another stream, ends the use, or the stream is destroyed. [context]
ADVSTEP_API aclError aclrtUseStreamResInCurrentThread(aclrtStream stream);

/// Ends the use. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  the calling thread does not use that stream's limits
ADVSTEP_API aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream);

/// The cores that the calling thread plans with now, on the current context's device. [context]
/// @retval ACL_ERROR_RT_PARAM_INVALID  no aclrtDevResLimitType
ADVSTEP_API aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_RESOURCE_LIMIT_H_ */
