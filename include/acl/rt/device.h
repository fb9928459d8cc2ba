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

/// One property of a device, whatever its resource limits: cores, bytes of the unified buffer of a
/// vector core, of device memory and of the L2 cache; IS_VIRTUAL is 0.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   deviceId is not in [0, device count)
/// @retval ACL_ERROR_RT_PARAM_INVALID      attr is no aclrtDevAttr
ADVSTEP_API aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value);

/// Whether the device is set, so that it has a primary context.
/// @param[out] flags   always 0; may be NULL
/// @param[out] active  1 or 0
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   deviceId is not in [0, device count)
ADVSTEP_API aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active);

/// Whether aclrtDeviceEnablePeerAccess can be called under deviceId for peerDeviceId: 1 for any
/// two devices, 0 for a device and itself.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   an id is not in [0, device count)
ADVSTEP_API aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId,
                                              int32_t peerDeviceId);

/// Lets the current context's device reach the peer's memory, until it is disabled or one of the
/// two is reset. Only kept: copies between devices work without it as well. [context]
/// @param[in] flags  0
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   peerDeviceId is not in [0, device count)
/// @retval ACL_ERROR_RT_PARAM_INVALID      it is the current device or enabled already; flags not 0
ADVSTEP_API aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags);

/// Ends what aclrtDeviceEnablePeerAccess began. [context]
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   peerDeviceId is not in [0, device count)
/// @retval ACL_ERROR_RT_PARAM_INVALID      not enabled
ADVSTEP_API aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_DEVICE_H_ */
