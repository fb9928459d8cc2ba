// SPDX-License-Identifier: Apache-2.0
// Versions and attributes of the packages that the library stands for, and capabilities of devices.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "acl/acl_base.h"
#include "src/acl/find_device.h"
#include "src/base/boundary.h"
#include "src/base/cann_version.h"
#include "src/runtime/device/device.h"

using namespace advstep;

namespace {

constexpr const char* kPackages[] = {
    "cann",   "runtime",  "compiler", "hccl",   "toolkit",         "opp",    "opp_kernel",
    "driver", "firmware", "ops_math", "ops_nn", "ops_transformer", "ops_cv", "ops_legacy"};
constexpr aclCannAttr kAttributes[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16,
                                       ACL_CANN_ATTR_JIT_COMPILE};

Status CheckPackage(const char* name) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(name, "pkgName"));
    std::string spelt = name;
    std::replace(spelt.begin(), spelt.end(), '-', '_');
    const bool known =
        std::find(std::begin(kPackages), std::end(kPackages), spelt) != std::end(kPackages);
    return known ? Status()
                 : Error(ACL_ERROR_INVALID_FILE,
                         "pkgName is \"{}\", which is not installed; expected one of cann, "
                         "runtime, compiler, hccl, toolkit, opp, opp_kernel, driver, firmware, "
                         "ops_math, ops_nn, ops_transformer, ops_cv and ops_legacy",
                         name);
}

Status ReadVersion(std::string* text, CannVersion* version) {
    Settings settings;
    ADVSTEP_RETURN_IF_ERROR(TheDeviceRegistry().ReadSettings(&settings));
    *text = settings.cannVersion;
    *version = ParseCannVersion(*text).value_or(CannVersion());
    return {};
}

// Copies a text that is shorter than the array, and clears the rest.
template <size_t kBytes>
void Fill(char (&array)[kBytes], const std::string& text) {
    std::memset(array, 0, kBytes);
    text.copy(array, kBytes - 1);
}

}  // namespace

aclError aclsysGetVersionStr(char* pkgName, char* versionStr) {
    return AclBoundary("aclsysGetVersionStr", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckPackage(pkgName));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(versionStr, "versionStr"));
        std::string text;
        CannVersion version;
        ADVSTEP_RETURN_IF_ERROR(ReadVersion(&text, &version));
        std::memcpy(versionStr, text.c_str(), text.size() + 1);  // shorter than 128 bytes
        return {};
    });
}

aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum) {
    return AclBoundary("aclsysGetVersionNum", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(CheckPackage(pkgName));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(versionNum, "versionNum"));
        std::string text;
        CannVersion version;
        ADVSTEP_RETURN_IF_ERROR(ReadVersion(&text, &version));
        *versionNum = version.number;
        return {};
    });
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version) {
    return AclBoundary("aclsysGetCANNVersion", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(version, "version"));
        const auto number = static_cast<int>(name);
        if (number < ACL_PKG_NAME_CANN || number > ACL_PKG_NAME_DRIVER) {
            return Error(ACL_ERROR_INVALID_PARAM, "name is {}; expected an aclCANNPackageName",
                         number);
        }
        std::string text;
        CannVersion parsed;
        ADVSTEP_RETURN_IF_ERROR(ReadVersion(&text, &parsed));
        Fill(version->version, text);
        Fill(version->majorVersion, parsed.parts[0]);
        Fill(version->minorVersion, parsed.parts[1]);
        Fill(version->releaseVersion, parsed.parts[2]);
        Fill(version->patchVersion, parsed.parts[3]);
        Fill(version->reserved, "");
        return {};
    });
}

aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num) {
    return AclBoundary("aclGetCannAttributeList", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(cannAttrList, "cannAttrList"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(num, "num"));
        *cannAttrList = kAttributes;
        *num = std::size(kAttributes);
        return {};
    });
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value) {
    return AclBoundary("aclGetCannAttribute", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(value, "value"));
        const auto number = static_cast<int>(cannAttr);
        if (number < ACL_CANN_ATTR_INF_NAN || number > ACL_CANN_ATTR_JIT_COMPILE) {
            return Error(ACL_ERROR_INVALID_PARAM,
                         "cannAttr is {}; expected one of aclGetCannAttributeList", number);
        }
        *value = 1;
        return {};
    });
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
    return AclBoundary("aclGetDeviceCapability", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(value, "value"));
        const Device* device = nullptr;
        ADVSTEP_RETURN_IF_ERROR(FindDevice(deviceId, &device, ACL_ERROR_INVALID_PARAM));
        const SocSpec& soc = device->settings().soc;
        switch (static_cast<int>(deviceInfo)) {
            case ACL_DEVICE_INFO_AI_CORE_NUM:
                *value = soc.aiCores;
                return {};
            case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
                *value = soc.vectorCores;
                return {};
            case ACL_DEVICE_INFO_L2_SIZE:
                *value = soc.l2CacheBytes;
                return {};
            default:
                return Error(ACL_ERROR_INVALID_PARAM, "deviceInfo is {}; expected an aclDeviceInfo",
                             static_cast<int>(deviceInfo));
        }
    });
}
