// SPDX-License-Identifier: Apache-2.0
/// Versions and attributes of the CANN packages that the library stands in for, and capabilities of
/// devices. The calls need no aclInit.
#ifndef ADVSTEP_ACL_BASE_VERSION_H_
#define ADVSTEP_ACL_BASE_VERSION_H_

#include "acl/base/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_PKG_VERSION_MAX_SIZE 128
#define ACL_PKG_VERSION_PARTS_MAX_SIZE 64

typedef enum {
    ACL_PKG_NAME_CANN = 0,
    ACL_PKG_NAME_RUNTIME = 1,
    ACL_PKG_NAME_COMPILER = 2,
    ACL_PKG_NAME_HCCL = 3,
    ACL_PKG_NAME_TOOLKIT = 4,
    ACL_PKG_NAME_OPP = 5,
    ACL_PKG_NAME_OPP_KERNEL = 6,
    ACL_PKG_NAME_DRIVER = 7
} aclCANNPackageName;

/// A version as text, and its parts between the dots. A part that the version does not have is "".
typedef struct {
    char version[ACL_PKG_VERSION_MAX_SIZE];
    char majorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char minorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char releaseVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char patchVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
    char reserved[ACL_PKG_VERSION_MAX_SIZE];
} aclCANNPackageVersion;

typedef enum {
    ACL_CANN_ATTR_UNDEFINED = -1,
    ACL_CANN_ATTR_INF_NAN = 0,
    ACL_CANN_ATTR_BF16 = 1,
    ACL_CANN_ATTR_JIT_COMPILE = 2
} aclCannAttr;

typedef enum {
    ACL_DEVICE_INFO_UNDEFINED = -1,
    ACL_DEVICE_INFO_AI_CORE_NUM = 0,
    ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1,
    ACL_DEVICE_INFO_L2_SIZE = 2 /* in bytes */
} aclDeviceInfo;

/// Writes the version of a package as text. All packages have the version of the setting
/// ADVANCE_STEP_CANN_VERSION.
/// @param[in]  pkgName     runtime, compiler, hccl, toolkit, opp, opp_kernel, driver, firmware,
/// cann,
///                         ops_math, ops_nn, ops_transformer, ops_cv or ops_legacy; - and _ mean
///                         the same
/// @param[out] versionStr  room for ACL_PKG_VERSION_MAX_SIZE bytes
/// @retval ACL_ERROR_INVALID_PARAM  an argument is NULL
/// @retval ACL_ERROR_INVALID_FILE   there is no such package
ADVSTEP_API aclError aclsysGetVersionStr(char* pkgName, char* versionStr);

/// As aclsysGetVersionStr, but writes the version as a number that grows with it. The number is
/// major * 10000000 + minor * 100000 + patch * 1000; for -alpha.N, -beta.N and -rc.N it is that
/// minus 300, 200 or 100, plus N. So 9.2.0 is 90200000.
ADVSTEP_API aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum);

/// As aclsysGetVersionStr, but writes the parts of the version as well.
/// @retval ACL_ERROR_INVALID_PARAM  name is no aclCANNPackageName; version is NULL
ADVSTEP_API aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version);

/// Returns the list of the attributes that aclGetCannAttribute knows. The list is static.
ADVSTEP_API aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num);

/// Writes 1 to *value: the packages have every attribute of the list.
/// @retval ACL_ERROR_INVALID_PARAM  cannAttr is no attribute of the list; value is NULL
ADVSTEP_API aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value);

/// Returns a property of a device, as aclrtGetDeviceInfo does: the number of AI cores or of vector
/// cores, or the size of the L2 cache in bytes.
/// @retval ACL_ERROR_INVALID_PARAM  there is no such device or property; value is NULL
ADVSTEP_API aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo,
                                            int64_t* value);

#ifdef __cplusplus
}
#endif

#endif /* ADVSTEP_ACL_BASE_VERSION_H_ */
