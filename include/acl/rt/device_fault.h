// SPDX-License-Identifier: Apache-2.0
/// Faults of devices, and the abort of all work of a device. Rules for every call: acl/acl_rt.h.
///
/// The emulated device has no faults: the queries return none, and repairs change nothing. A failed
/// kernel is no fault of the device.
#ifndef ADVSTEP_ACL_RT_DEVICE_FAULT_H_
#define ADVSTEP_ACL_RT_DEVICE_FAULT_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define UCE_INFO_RESERVED_SIZE 14
#define ACL_RT_MEM_UCE_INFO_MAX_NUM 20
#define MAX_MEM_UCE_INFO_ARRAY_SIZE 128

typedef enum {
    ACL_RT_NO_ERROR = 0,
    ACL_RT_ERROR_MEMORY = 1,
    ACL_RT_ERROR_L2 = 2,
    ACL_RT_ERROR_AICORE = 3,
    ACL_RT_ERROR_LINK = 4,
    ACL_RT_ERROR_L3_PORT = 5,
    ACL_RT_ERROR_OTHERS = 0xFFFF
} aclrtErrorType;

typedef enum {
    ACL_RT_AICORE_ERROR_UNKNOWN = 0,
    ACL_RT_AICORE_ERROR_SW = 1,
    ACL_RT_AICORE_ERROR_HW_LOCAL = 2
} aclrtAicoreErrorType;

/// A range of memory with an error that cannot be corrected.
typedef struct {
    void* addr;
    size_t len;
    size_t reserved[UCE_INFO_RESERVED_SIZE]; /* 0 */
} aclrtMemUceInfo;

typedef struct {
    size_t arraySize;
    aclrtMemUceInfo memUceInfoArray[ACL_RT_MEM_UCE_INFO_MAX_NUM];
} aclrtMemUceInfoArray;

/// The properties of a fault, by its aclrtErrorType.
typedef union {
    aclrtMemUceInfoArray uceInfo;
    aclrtAicoreErrorType aicoreErrType;
} aclrtErrorInfoDetail;

typedef struct {
    uint8_t tryRepair;
    uint8_t hasDetail;
    uint8_t reserved[2];
    aclrtErrorType errorType;
    aclrtErrorInfoDetail detail;
} aclrtErrorInfo;

typedef enum {
    ACL_RT_DEVICE_TASK_ABORT_PRE = 0,
    ACL_RT_DEVICE_TASK_ABORT_POST = 1
} aclrtDeviceTaskAbortStage;

/// A callback that aclrtDeviceTaskAbort makes before and after it ends the work. A result other
/// than 0, or an exception, ends the abort with an error.
typedef int32_t (*aclrtDeviceTaskAbortCallback)(int32_t deviceId, aclrtDeviceTaskAbortStage stage,
                                                uint32_t timeout, void* args);

/// Sets *errorInfo to zeros: the device has no fault.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
ADVSTEP_API aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo* errorInfo);

/// Checks the arguments, and repairs nothing, because there are no faults. Codes as
/// aclrtGetErrorVerbose.
ADVSTEP_API aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo* errorInfo);

/// Writes 0 to *retSize: no memory has an error.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
ADVSTEP_API aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray,
                                        size_t arraySize, size_t* retSize);

/// Checks the arguments, and repairs nothing, because no memory has an error.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
/// @retval ACL_ERROR_INVALID_PARAM        arraySize is above ACL_RT_MEM_UCE_INFO_MAX_NUM; a
///                                        reserved word is not 0; memUceInfoArray is NULL with
///                                        arraySize above 0
ADVSTEP_API aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray,
                                       size_t arraySize);

/// Ends the work of all streams of a device. The call makes the callbacks with stage PRE, drops the
/// work that has not started, waits for the work that is running, and makes the callbacks with
/// stage POST. Synchronisations that wait for dropped work, and launches and replays during the
/// abort, return ACL_ERROR_RT_DEVICE_TASK_ABORT. The streams take new work afterwards. Captures go
/// on.
/// @param[in] timeout  the most milliseconds to wait for running work, up to 2160000 (36 minutes);
///                     0: for ever
/// @retval ACL_ERROR_RT_INVALID_DEVICEID     deviceId is not in [0, device count)
/// @retval ACL_ERROR_RT_PARAM_INVALID        timeout is too large
/// @retval ACL_ERROR_RT_WAIT_TIMEOUT         work was still running after the timeout; it continues
/// @retval ACL_ERROR_RT_INTERNAL_ERROR       a callback did not return 0, or threw an
///                                           exception: the abort ends there
/// @retval ACL_ERROR_RT_FEATURE_NOT_SUPPORT  called from a host function
ADVSTEP_API aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout);

/// Registers a callback of aborts under a name. Another callback of that name is replaced, and NULL
/// removes it. The thread that calls aclrtDeviceTaskAbort makes the callbacks, in the order in
/// which their names were registered. The end of the runtime removes all callbacks.
/// @param[in] args  passed to callback; may be NULL
/// @retval ACL_ERROR_INVALID_PARAM     regName is NULL
/// @retval ACL_ERROR_RT_PARAM_INVALID  callback is NULL, and no callback has that name
ADVSTEP_API aclError aclrtSetDeviceTaskAbortCallback(const char* regName,
                                                     aclrtDeviceTaskAbortCallback callback,
                                                     void* args);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_DEVICE_FAULT_H_ */
