// SPDX-License-Identifier: Apache-2.0
/// Devices. Rules for every call: acl/acl_rt.h.
#ifndef ADVSTEP_ACL_RT_DEVICE_H_
#define ADVSTEP_ACL_RT_DEVICE_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Makes the device's primary context the thread's current one and increments the device's use
/// count. The first use creates the context.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   deviceId is not in [0, device count)
/// @retval ACL_ERROR_FILE_ATTR_INVALID     this is the first use of any device, and a setting has
///                                         an invalid value
ADVSTEP_API aclError aclrtSetDevice(int32_t deviceId);

/// Decrements the use count. If that makes it 0, the call waits for the device's work, then frees
/// the primary context, its streams and events, and the device's memory. Other contexts of the
/// device stay.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID        deviceId is not in [0, device count)
/// @retval ACL_ERROR_RT_CONTEXT_RELEASE_ERROR   the device is not set
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT     called from a host function
ADVSTEP_API aclError aclrtResetDevice(int32_t deviceId);

/// Sets a use count above 1 to 1 first, then does what aclrtResetDevice does.
ADVSTEP_API aclError aclrtResetDeviceForce(int32_t deviceId);

/// Returns the device of the current context. [context]
ADVSTEP_API aclError aclrtGetDevice(int32_t* deviceId);

/// Returns the number of emulated devices (setting ADVANCE_STEP_DEVICES).
ADVSTEP_API aclError aclrtGetDeviceCount(uint32_t* count);

/// Waits until all work queued on the current context's device has run. The calling thread helps to
/// run it. The call returns a failure that no synchronisation has reported yet: the first failure
/// of a stream, and if several streams have one, that of the stream which was created first. A
/// failure is reported once. [context]
/// @retval ACL_ERROR_RT_STREAM_CAPTURED    a stream of the device is being captured
/// @retval ACL_ERROR_RT_STREAM_ABORT       a stream of the device was aborted, or destroyed by
///                                         aclrtDestroyStreamForce, during the wait
/// @retval ACL_ERROR_RT_DEVICE_TASK_ABORT  aclrtDeviceTaskAbort dropped the work
ADVSTEP_API aclError aclrtSynchronizeDevice(void);

/// Returns the free and the total bytes of device memory of the current context's device. [context]
/// @param[in] attr  any memory kind; the emulated device has one pool
/// @retval ACL_ERROR_RT_PARAM_INVALID  attr is not a value of aclrtMemAttr
ADVSTEP_API aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total);

/// Returns one property of a device: a number of cores, or the size in bytes of a vector core's
/// unified buffer, of device memory or of the L2 cache. PHY_CHIP_ID and SUPER_POD_DEVICE_ID are the
/// device id. The other ids and IS_VIRTUAL are 0. Resource limits do not change the numbers.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   deviceId is not in [0, device count)
/// @retval ACL_ERROR_RT_PARAM_INVALID      attr is not a value of aclrtDevAttr
ADVSTEP_API aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value);

/// Reports whether the device has a primary context, which aclrtSetDevice creates.
/// @param[out] flags   always 0; may be NULL
/// @param[out] active  1 or 0
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   deviceId is not in [0, device count)
ADVSTEP_API aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active);

/// Reports whether a context of deviceId may enable access to peerDeviceId with
/// aclrtDeviceEnablePeerAccess. The result is 1 for any two devices.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   an id is not in [0, device count)
/// @retval ACL_ERROR_INVALID_PARAM         the two ids are equal
ADVSTEP_API aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId,
                                              int32_t peerDeviceId);

/// Allows the current context's device to access the peer's memory, until access is disabled or the
/// current context's device is reset. A reset of the peer changes nothing. A second call has no
/// effect. The permission is only recorded: copies between devices work without it as well.
/// [context]
/// @param[in] flags  0
/// @retval ACL_ERROR_FEATURE_UNSUPPORTED   flags is not 0; this is checked first
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   peerDeviceId is not in [0, device count)
/// @retval ACL_ERROR_INVALID_PARAM         peerDeviceId is the current context's device
ADVSTEP_API aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags);

/// Withdraws the permission that aclrtDeviceEnablePeerAccess gave. [context]
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   peerDeviceId is not in [0, device count)
/// @retval ACL_ERROR_INVALID_PARAM         peerDeviceId is the current context's device
/// @retval ACL_ERROR_RT_PARAM_INVALID      access is not enabled
ADVSTEP_API aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId);

/// Reports whether the access of deviceId to peerDeviceId is enabled.
/// @param[out] status  1 or 0
/// @retval ACL_ERROR_RT_INVALID_DEVICEID   an id is not in [0, device count)
/// @retval ACL_ERROR_INVALID_PARAM         the two ids are equal
ADVSTEP_API aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId,
                                                 int32_t* status);

/// Writes back the L2 cache of the current device. The emulated device has no cache of its own, so
/// the call has no effect. [context]
/// @param[in] rsv  NULL, else ACL_ERROR_INVALID_PARAM
ADVSTEP_API aclError aclrtDeviceL2CacheFlush(void* rsv);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_DEVICE_H_ */
