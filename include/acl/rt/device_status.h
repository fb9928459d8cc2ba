// SPDX-License-Identifier: Apache-2.0
/// Numbers, states and utilization of devices. Rules for every call: acl/acl_rt.h. No call here
/// needs a current context.
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

/// The shares of the last second in which parts of a device were busy, in percent; -1: not known.
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

/// The device memory that one module uses.
typedef struct {
    char name[32];
    uint64_t curMemSize;  /* bytes */
    uint64_t memPeakSize; /* bytes; the greatest curMemSize so far */
    size_t reserved[8];
} aclrtMemUsageInfo;

/// These six calls convert a device number. The user's, the runtime's and the machine's numbers are
/// the same; ASCEND_RT_VISIBLE_DEVICES renumbers all of them alike.
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

/// Returns the process id under which other processes list this one: getpid().
ADVSTEP_API aclError aclrtDeviceGetBareTgid(int32_t* pid);

/// Returns ACL_RT_DEVICE_STATUS_NORMAL.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
ADVSTEP_API aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus);

/// Returns the share of the last second in which vector cores ran kernels. The first call for a
/// device starts the measurement, and writes -1 for cube and vector cores. Later calls write 0 for
/// cube cores. AI CPUs, which run nothing here, are always 0, and memory is always -1. A device
/// that does not exist gets -1 everywhere, and the code is 0.
/// @param[in,out] utilizationInfo  utilizationExtend is NULL on entry
/// @retval ACL_ERROR_INVALID_PARAM  utilizationInfo is NULL, or its utilizationExtend is not NULL
ADVSTEP_API aclError aclrtGetDeviceUtilizationRate(int32_t deviceId,
                                                   aclrtUtilizationInfo* utilizationInfo);

/// Returns an id that differs between devices and is the same in every process. Bytes 0 to 11 are
/// the beginning of the SoC's name, followed by zeros; bytes 12 to 15 are the device's number in
/// the machine, least byte first.
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
ADVSTEP_API aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid);

/// Returns the device's address on a PCI bus, such as "0000:01:00.0". The machine's device n has
/// bus n + 1; the address is the same in every process.
/// @param[in] len  the bytes at pciBusId, of which the address and its NUL take 13
/// @retval ACL_ERROR_RT_INVALID_DEVICEID  deviceId is not in [0, device count)
/// @retval ACL_ERROR_RT_PARAM_INVALID     len is below 13
ADVSTEP_API aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char* pciBusId, int32_t len);

/// Finds the device of an address of aclrtDeviceGetPCIBusId; letters may be large or small.
/// @retval ACL_ERROR_RT_PARAM_INVALID  no device of the process has the address
ADVSTEP_API aclError aclrtDeviceGetByPCIBusId(const char* pciBusId, int32_t* deviceId);

/// Lists the device memory that each module uses. There is one module, "APP".
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
