// SPDX-License-Identifier: Apache-2.0
/// Numbers, states and use of devices. Rules for every call: acl/acl_rt.h. No call needs a current
/// context.
#ifndef ADVSTEP_ACL_RT_DEVICE_STATUS_H_
#define ADVSTEP_ACL_RT_DEVICE_STATUS_H_

#include "acl/rt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    ACL_RT_DEVICE_STATUS_NORMAL = 0,
    ACL_RT_DEVICE_STATUS_ABNORMAL = 1,
    ACL_RT_DEVICE_STATUS_END = 0xFFFF
} aclrtDeviceStatus;

typedef struct aclrtUtilizationExtendInfo aclrtUtilizationExtendInfo;

/// Shares of the last second in percent; -1 is not available.
typedef struct {
    int32_t cubeUtilization;
    int32_t vectorUtilization;
    int32_t aicpuUtilization;
    int32_t memoryUtilization;
    aclrtUtilizationExtendInfo* utilizationExtend; /* NULL */
} aclrtUtilizationInfo;

typedef struct {
    char bytes[16];
} aclrtUuid;

/// Use of device memory by one module.
typedef struct {
    char name[32];
    uint64_t curMemSize;  /* bytes */
    uint64_t memPeakSize; /* bytes; the greatest since the process began */
    size_t reserved[8];
} aclrtMemUsageInfo;

/// Convert a device number: the user's, the runtime's and the machine's are the same, also with
/// ASCEND_RT_VISIBLE_DEVICES, which renumbers all of them.
/// @retval ACL_ERROR_RT_PARAM_INVALID     the number is negative
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  the number is not below the device count
ADVSTEP_API aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid,
                                                   int32_t* const logicDevId);
ADVSTEP_API aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId,
                                                   int32_t* const userDevid);
ADVSTEP_API aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId,
                                                  int32_t* const logicDevId);
ADVSTEP_API aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId,
                                                  int32_t* const phyDevId);
ADVSTEP_API aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t* const userDevid);
ADVSTEP_API aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevid, int32_t* const phyDevId);

/// Returns the process id by which other processes know this one: getpid().
ADVSTEP_API aclError aclrtDeviceGetBareTgid(int32_t* pid);

/// Returns ACL_RT_DEVICE_STATUS_NORMAL.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
ADVSTEP_API aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus);

/// Returns the share of the vector cores' time that kernels have used in the last second. The first
/// call for a device starts the measurement, and returns -1 for cores; a device that does not exist
/// has -1 everywhere, and the code is 0. Cube cores and AI CPUs run nothing here: 0. Memory is -1.
/// @param[in,out] utilizationInfo  utilizationExtend is NULL on entry
/// @retval ACL_ERROR_INVALID_PARAM  utilizationInfo is NULL, or its utilizationExtend is not
ADVSTEP_API aclError aclrtGetDeviceUtilizationRate(int32_t deviceId,
                                                   aclrtUtilizationInfo* utilizationInfo);

/// Returns an id that differs between devices and is the same in every process: the beginning of the
/// SoC's name, and in bytes 12 to 15 the device's number in the machine, least byte first.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
ADVSTEP_API aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid);

/// Lists the use of device memory by modules, the largest first: one module, "APP".
/// @param[in]  inputNum   entries of memUsageInfo; >= 1
/// @param[out] outputNum  entries written
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
/// @retval ACL_ERROR_RT_PARAM_INVALID     inputNum is 0
ADVSTEP_API aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo* memUsageInfo,
                                          size_t inputNum, size_t* outputNum);

#ifdef __cplusplus
}
#endif

#endif  /* ADVSTEP_ACL_RT_DEVICE_STATUS_H_ */
