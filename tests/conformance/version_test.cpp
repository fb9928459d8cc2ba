// SPDX-License-Identifier: Apache-2.0
// Versions of packages, attributes, and capabilities of devices.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

#include "acl/acl.h"
#include "advance_step/version.h"
#include "support/runtime_test.h"

namespace {

using support::IsError;
using support::IsOk;

class VersionTest : public support::EndedRuntimeTest {
 protected:
    static std::string Text(std::string package) {
        char text[ACL_PKG_VERSION_MAX_SIZE] = {};
        EXPECT_TRUE(IsOk(aclsysGetVersionStr(package.data(), text)));
        return text;
    }
    static int32_t Number(std::string package = "runtime") {
        int32_t number = 0;
        EXPECT_TRUE(IsOk(aclsysGetVersionNum(package.data(), &number)));
        return number;
    }
    static aclCANNPackageVersion Parts(aclCANNPackageName name) {
        aclCANNPackageVersion version;
        std::memset(&version, 0x55, sizeof(version));
        EXPECT_TRUE(IsOk(aclsysGetCANNVersion(name, &version)));
        return version;
    }
};

TEST_F(VersionTest, IsTheSameForEveryPackageWithoutInit) {
    for (const char* const package :
         {"cann", "runtime", "compiler", "hccl", "toolkit", "opp", "opp_kernel", "opp-kernel",
          "driver", "firmware", "ops_math", "ops_nn", "ops_transformer", "ops_cv", "ops_legacy"}) {
        EXPECT_EQ(Text(package), "9.2.0") << package;
        EXPECT_EQ(Number(package), 90200000) << package;
    }
    for (int name = ACL_PKG_NAME_CANN; name <= ACL_PKG_NAME_DRIVER; ++name) {
        const aclCANNPackageVersion version = Parts(static_cast<aclCANNPackageName>(name));
        EXPECT_STREQ(version.version, "9.2.0");
        EXPECT_STREQ(version.majorVersion, "9");
        EXPECT_STREQ(version.minorVersion, "2");
        EXPECT_STREQ(version.releaseVersion, "0");
        EXPECT_STREQ(version.patchVersion, "");
        EXPECT_STREQ(version.reserved, "");
    }
}

TEST_F(VersionTest, FollowsTheSetting) {
    struct {
        const char* text;
        int32_t number;
    } const cases[] = {{"8.5.3", 80503000},         {"9.1.0", 90100000},
                       {"9.0.0-alpha.1", 89999701}, {"9.0.0-beta.2", 89999802},
                       {"9.0.0-rc.3", 89999903},    {"10.11.12", 101112000}};
    for (const auto& c : cases) {
        support::WriteEnvironment({{"ADVANCE_STEP_CANN_VERSION", c.text}});
        EXPECT_EQ(Text("runtime"), c.text);
        EXPECT_EQ(Number(), c.number) << c.text;
    }
    EXPECT_STREQ(Parts(ACL_PKG_NAME_RUNTIME).releaseVersion, "12");
    for (const char* const bad :
         {"", "9", "9.2", "9.2.", "a.b.c", "9.2.0.1", "9.2.0-rc", "9.2.0-rc.", "9.2.0-gamma.1",
          "100.0.0", "-1.0.0", "9.2.0 ", "9.2.0-rc.100", "009.2.0"}) {
        support::WriteEnvironment({{"ADVANCE_STEP_CANN_VERSION", bad}});
        int32_t number = 7;
        char package[] = "runtime";
        EXPECT_TRUE(IsError(ACL_ERROR_FILE_ATTR_INVALID, aclsysGetVersionNum(package, &number),
                            {"ADVANCE_STEP_CANN_VERSION"}))
            << bad;
        EXPECT_EQ(number, 7);
    }
    support::WriteEnvironment({});
}

TEST_F(VersionTest, RefusesOtherPackages) {
    char text[ACL_PKG_VERSION_MAX_SIZE] = "as before";
    int32_t number = 7;
    for (const char* const name : {"", "Runtime", "runtimes", "kernel"}) {
        std::string package = name;
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_FILE, aclsysGetVersionStr(package.data(), text),
                            {"aclsysGetVersionStr: ", "pkgName"}));
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_FILE, aclsysGetVersionNum(package.data(), &number),
                            {"aclsysGetVersionNum: ", "pkgName"}));
    }
    char package[] = "opp";
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclsysGetVersionStr(nullptr, text), {"pkgName"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclsysGetVersionStr(package, nullptr), {"versionStr"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclsysGetVersionNum(package, nullptr), {"versionNum"}));
    aclCANNPackageVersion version;
    for (const int name : {-1, 8}) {
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                            aclsysGetCANNVersion(static_cast<aclCANNPackageName>(name), &version),
                            {"aclsysGetCANNVersion: ", "name"}, {name}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclsysGetCANNVersion(ACL_PKG_NAME_CANN, nullptr),
                        {"version"}));
    EXPECT_STREQ(text, "as before");
    EXPECT_EQ(number, 7);
}

TEST_F(VersionTest, EveryAttributeIsThere) {
    const aclCannAttr* list = nullptr;
    size_t count = 0;
    ASSERT_TRUE(IsOk(aclGetCannAttributeList(&list, &count)));
    EXPECT_EQ((std::set<int>(list, list + count)), (std::set<int>{0, 1, 2}));
    for (size_t i = 0; i < count; ++i) {
        int32_t value = 7;
        EXPECT_TRUE(IsOk(aclGetCannAttribute(list[i], &value)));
        EXPECT_EQ(value, 1);
    }
    int32_t value = 7;
    for (const int bad : {-1, 3}) {
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                            aclGetCannAttribute(static_cast<aclCannAttr>(bad), &value),
                            {"aclGetCannAttribute: ", "cannAttr"}, {bad}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclGetCannAttribute(ACL_CANN_ATTR_BF16, nullptr),
                        {"value"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclGetCannAttributeList(nullptr, &count),
                        {"cannAttrList"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclGetCannAttributeList(&list, nullptr), {"num"}));
    EXPECT_EQ(value, 7);
}

TEST_F(VersionTest, CapabilitiesAreThoseOfTheSoc) {
    support::WriteEnvironment({{"ADVANCE_STEP_SOC", "Ascend910B1"}});
    struct {
        aclDeviceInfo info;
        int64_t value;
    } const cases[] = {{ACL_DEVICE_INFO_AI_CORE_NUM, 24},
                       {ACL_DEVICE_INFO_VECTOR_CORE_NUM, 48},
                       {ACL_DEVICE_INFO_L2_SIZE, int64_t{192} << 20}};
    int64_t value = 7;
    for (const auto& c : cases) {
        EXPECT_TRUE(IsOk(aclGetDeviceCapability(1, c.info, &value)));
        EXPECT_EQ(value, c.value);
    }
    value = 7;
    for (const int bad : {-1, 3}) {
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                            aclGetDeviceCapability(0, static_cast<aclDeviceInfo>(bad), &value),
                            {"aclGetDeviceCapability: ", "deviceInfo"}, {bad}));
    }
    for (const uint32_t bad : {2U, UINT32_MAX}) {
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                            aclGetDeviceCapability(bad, ACL_DEVICE_INFO_AI_CORE_NUM, &value),
                            {"deviceId"}, {bad, 2}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclGetDeviceCapability(0, ACL_DEVICE_INFO_L2_SIZE, nullptr), {"value"}));
    EXPECT_EQ(value, 7);
    support::WriteEnvironment({});
}

// The project's own version.

TEST_F(VersionTest, OfTheLibraryIsThatOfTheHeadersAndTheProject) {
    int32_t parts[3] = {-1, -1, -1};
    EXPECT_TRUE(IsOk(advstepGetVersion(&parts[0], &parts[1], &parts[2])));
    EXPECT_EQ(parts[0], ADVSTEP_VERSION_MAJOR);
    EXPECT_EQ(parts[1], ADVSTEP_VERSION_MINOR);
    EXPECT_EQ(parts[2], ADVSTEP_VERSION_PATCH);
    EXPECT_EQ(parts[0] * 1000000 + parts[1] * 1000 + parts[2], ADVSTEP_VERSION_NUMBER);
    EXPECT_STREQ(ADVSTEP_VERSION_STRING, ADVANCE_STEP_PROJECT_VERSION);
    EXPECT_EQ(
        std::to_string(parts[0]) + "." + std::to_string(parts[1]) + "." + std::to_string(parts[2]),
        ADVANCE_STEP_PROJECT_VERSION);
}

TEST_F(VersionTest, OfTheLibraryNeedsThreePlaces) {
    int32_t value = 7;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, advstepGetVersion(nullptr, &value, &value),
                        {"advstepGetVersion: ", "majorVersion"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, advstepGetVersion(&value, nullptr, &value),
                        {"minorVersion"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, advstepGetVersion(&value, &value, nullptr),
                        {"patchVersion"}));
    EXPECT_EQ(value, 7);
}

}  // namespace
