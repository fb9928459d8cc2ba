/// Devices. Rules for every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_DEVICE_H_
#define ADVSTEP_ACL_RT_DEVICE_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Makes the device's primary context the thread's current one, creating it on first use, and
/// counts one use of the device.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   deviceId is not in [0, device count)
/// @retval ACL_ERROR_FILE_ATTR_INVALID     first device use, and a setting has a bad value
ADVSTEP_API aclError aclrtSetDevice(int32_t deviceId);

/// Takes one use off. At 0 it waits for the device's work, then frees the primary context, its
/// streams and events, and the device's memory. Other contexts of the device stay.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID        deviceId is not in [0, device count)
/// @retval ACL_ERROR_RT_CONTEXT_RELEASE_ERROR   the device is not set
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT     called from a host function
ADVSTEP_API aclError aclrtResetDevice(int32_t deviceId);

/// As aclrtResetDevice, at once whatever the count.
ADVSTEP_API aclError aclrtResetDeviceForce(int32_t deviceId);

/// Device of the current context. [context]
ADVSTEP_API aclError aclrtGetDevice(int32_t* deviceId);

/// Number of emulated devices (setting ADVANCE_STEP_DEVICES).
ADVSTEP_API aclError aclrtGetDeviceCount(uint32_t* count);

/// Waits for everything queued on the current context's device; runs pending work itself. Returns
/// the first failure that no synchronisation has reported yet, once. [context]
ADVSTEP_API aclError aclrtSynchronizeDevice(void);

/// Bytes of device memory of the current context's device that are free, and in all. [context]
/// @param[in] attr  any memory kind; the emulated device has one pool
/// @retval ACL_ERROR_RT_PARAM_INVALID  attr is no aclrtMemAttr
ADVSTEP_API aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_DEVICE_H_ */
