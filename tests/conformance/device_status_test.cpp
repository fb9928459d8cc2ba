// SPDX-License-Identifier: Apache-2.0
// Numbers, states, use and faults of devices.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>

#include "acl/acl.h"
#include "conformance/one_query.h"
#include "conformance/virtual_memory_fixture.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using support::DeviceBuffer;
using support::IsError;
using support::IsOk;

constexpr int kNoDevice = ACL_ERROR_RT_INVALID_DEVICEID;

class DeviceStatusTest : public conformance::VirtualMemoryFixture {};

TEST_F(DeviceStatusTest, NumbersAreTheSame) {
    using Call = aclError (*)(int32_t, int32_t*);
    struct {
        Call call;
        std::string name;
        std::string argument;
    } const calls[] = {
        {&aclrtGetLogicDevIdByUserDevId, "aclrtGetLogicDevIdByUserDevId", "userDevid"},
        {&aclrtGetUserDevIdByLogicDevId, "aclrtGetUserDevIdByLogicDevId", "logicDevId"},
        {&aclrtGetLogicDevIdByPhyDevId, "aclrtGetLogicDevIdByPhyDevId", "phyDevId"},
        {&aclrtGetPhyDevIdByLogicDevId, "aclrtGetPhyDevIdByLogicDevId", "logicDevId"},
        {&aclrtGetUserDevIdByPhyDevId, "aclrtGetUserDevIdByPhyDevId", "phyDevId"},
        {&aclrtGetPhyDevIdByUserDevId, "aclrtGetPhyDevIdByUserDevId", "userDevid"}};
    for (const auto& c : calls) {
        for (const int32_t id : {0, 1}) {
            int32_t other = -7;
            EXPECT_TRUE(IsOk(c.call(id, &other)));
            EXPECT_EQ(other, id);
        }
        int32_t other = -7;
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, c.call(-1, &other),
                            {c.name + ": " + c.argument + " is -1"}));
        EXPECT_TRUE(IsError(kNoDevice, c.call(2, &other), {c.name + ": " + c.argument + " is 2"}));
        EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, c.call(0, nullptr), {c.name + ": "}));
        EXPECT_EQ(other, -7);
    }
}

TEST_F(DeviceStatusTest, IdentityOfProcessAndDevices) {
    int32_t pid = 0;
    EXPECT_TRUE(IsOk(aclrtDeviceGetBareTgid(&pid)));
    EXPECT_EQ(pid, getpid());
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtDeviceGetBareTgid(nullptr), {"pid"}));
    aclrtUuid first;
    aclrtUuid second;
    ASSERT_TRUE(IsOk(aclrtDeviceGetUuid(0, &first)));
    ASSERT_TRUE(IsOk(aclrtDeviceGetUuid(1, &second)));
    EXPECT_EQ(std::string(first.bytes, 16), std::string("Ascend910B3\0\0\0\0\0", 16));
    EXPECT_EQ(std::string(second.bytes, 16), std::string("Ascend910B3\0\1\0\0\0", 16));
    EXPECT_TRUE(IsError(kNoDevice, aclrtDeviceGetUuid(2, &first), {"aclrtDeviceGetUuid: "}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtDeviceGetUuid(0, nullptr), {"uuid"}));
    int64_t value = -1;
    for (const auto attr : {ACL_DEV_ATTR_PHY_CHIP_ID, ACL_DEV_ATTR_SUPER_POD_DEVICE_ID,
                            ACL_DEV_ATTR_SUPER_POD_DEVIDE_ID}) {
        EXPECT_TRUE(IsOk(aclrtGetDeviceInfo(1, attr, &value)));
        EXPECT_EQ(value, 1);
    }
    for (const auto attr :
         {ACL_DEV_ATTR_SMP_ID, ACL_DEV_ATTR_SUPER_POD_SERVER_ID, ACL_DEV_ATTR_SUPER_POD_ID}) {
        EXPECT_TRUE(IsOk(aclrtGetDeviceInfo(1, attr, &value)));
        EXPECT_EQ(value, 0);
    }
}

TEST_F(DeviceStatusTest, TheUuidIsTheMachinesDevice) {
    ASSERT_TRUE(IsOk(aclFinalize()));
    setenv("ASCEND_RT_VISIBLE_DEVICES", "1", 1);
    aclrtUuid uuid;
    EXPECT_TRUE(IsOk(aclrtDeviceGetUuid(0, &uuid)));
    EXPECT_EQ(uuid.bytes[12], 1);
    unsetenv("ASCEND_RT_VISIBLE_DEVICES");
    support::EndRuntime();
}

TEST_F(DeviceStatusTest, IsNormal) {
    aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_END;
    EXPECT_TRUE(IsOk(aclrtQueryDeviceStatus(1, &status)));
    EXPECT_EQ(status, ACL_RT_DEVICE_STATUS_NORMAL);
    EXPECT_TRUE(IsError(kNoDevice, aclrtQueryDeviceStatus(2, &status), {"deviceId"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtQueryDeviceStatus(0, nullptr), {"deviceStatus"}));
}

TEST_F(DeviceStatusTest, UtilizationIsMeasuredFromTheFirstCallOn) {
    aclrtUtilizationInfo info = {7, 7, 7, 7, nullptr};
    ASSERT_TRUE(IsOk(aclrtGetDeviceUtilizationRate(0, &info)));
    EXPECT_EQ(info.vectorUtilization, -1);
    ASSERT_TRUE(IsOk(aclrtGetDeviceUtilizationRate(0, &info)));
    EXPECT_EQ(info.vectorUtilization, 0);
    EXPECT_EQ(info.cubeUtilization, 0);
    EXPECT_EQ(info.aicpuUtilization, 0);
    EXPECT_EQ(info.memoryUtilization, -1);
    // Kernels all the time: the share is above 0 once they have run for a part of the second.
    const DeviceBuffer buffer(conformance::OneQuery());
    const auto begin = std::chrono::steady_clock::now();
    do {
        buffer.Upload(conformance::OneQuery());
        ASSERT_TRUE(IsOk(conformance::AdvanceOneQuery(buffer.At(0))));
        ASSERT_TRUE(IsOk(aclrtGetDeviceUtilizationRate(0, &info)));
        ASSERT_LE(info.vectorUtilization, 100);
    } while (info.vectorUtilization == 0 &&
             std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(200));
    EXPECT_GE(info.vectorUtilization, 0);
    aclrtUtilizationInfo other = {7, 7, 7, 7, nullptr};
    EXPECT_TRUE(IsOk(aclrtGetDeviceUtilizationRate(9, &other))) << "no device: nothing available";
    EXPECT_EQ(other.vectorUtilization, -1);
    EXPECT_EQ(other.aicpuUtilization, -1);
    other.utilizationExtend = reinterpret_cast<aclrtUtilizationExtendInfo*>(&other);
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceUtilizationRate(0, &other),
                        {"utilizationExtend"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceUtilizationRate(0, nullptr),
                        {"utilizationInfo"}));
}

// A device may have the address of one of an earlier life.
TEST_F(DeviceStatusTest, PeakIsThatOfOneLifeOfTheRuntime) {
    for (int life = 0; life < 5; ++life) {
        ASSERT_NO_FATAL_FAILURE(Restart({}));
        aclrtMemUsageInfo use;
        size_t count = 0;
        ASSERT_TRUE(IsOk(aclrtGetMemUsageInfo(0, &use, 1, &count)));
        EXPECT_LT(use.memPeakSize, 50'000'000U) << "life " << life;
        const DeviceBuffer large(50'000'000);
    }
}

TEST_F(DeviceStatusTest, MemoryUseHasItsPeak) {
    aclrtMemUsageInfo use[2];
    size_t count = 0;
    const auto read = [&] {
        EXPECT_TRUE(IsOk(aclrtGetMemUsageInfo(0, use, 2, &count)));
        EXPECT_EQ(count, 1U);
        EXPECT_STREQ(use[0].name, "APP");
    };
    read();
    const uint64_t before = use[0].curMemSize;
    {
        const DeviceBuffer first(1000);
        const DeviceBuffer second(5000);
        read();
        EXPECT_EQ(use[0].curMemSize, before + 6000);
        EXPECT_GE(use[0].memPeakSize, before + 6000);
    }
    const uint64_t peak = use[0].memPeakSize;
    read();
    EXPECT_EQ(use[0].curMemSize, before);
    EXPECT_EQ(use[0].memPeakSize, peak);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtGetMemUsageInfo(0, use, 0, &count),
                        {"aclrtGetMemUsageInfo: ", "inputNum"}));
    EXPECT_TRUE(IsError(kNoDevice, aclrtGetMemUsageInfo(2, use, 1, &count), {"deviceId"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetMemUsageInfo(0, nullptr, 1, &count),
                        {"memUsageInfo"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtGetMemUsageInfo(0, use, 1, nullptr), {"outputNum"}));
}

TEST_F(DeviceStatusTest, MemoryUseLeavesOutWhatWasFreedWhileWorkUsedIt) {
    Mapped mapped(conformance::kUnit);
    const support::Stream stream = support::MakeStream();
    const support::HostGate gate(stream.Get());
    ASSERT_TRUE(IsOk(aclrtMemsetAsync(mapped.range.Get(), conformance::kUnit, 1, conformance::kUnit,
                                      stream.Get())));
    mapped.Unmap();
    ASSERT_TRUE(IsOk(aclrtFreePhysical(mapped.memory.Release())));
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    aclrtMemUsageInfo use;
    size_t count = 0;
    ASSERT_TRUE(IsOk(aclrtGetMemUsageInfo(0, &use, 1, &count)));
    EXPECT_EQ(use.curMemSize, 0U);
}

TEST_F(DeviceStatusTest, ThereAreNoFaults) {
    aclrtErrorInfo info;
    std::memset(&info, 0x55, sizeof(info));
    ASSERT_TRUE(IsOk(aclrtGetErrorVerbose(1, &info)));
    const aclrtErrorInfo none{};
    EXPECT_EQ(std::memcmp(&info, &none, sizeof(info)), 0);
    EXPECT_TRUE(IsOk(aclrtRepairError(1, &info)));
    aclrtMemUceInfo ranges[21] = {};
    size_t count = 7;
    EXPECT_TRUE(IsOk(aclrtGetMemUceInfo(0, ranges, 21, &count)));
    EXPECT_EQ(count, 0U);
    EXPECT_TRUE(IsOk(aclrtMemUceRepair(0, ranges, 20)));
    EXPECT_TRUE(IsOk(aclrtMemUceRepair(0, nullptr, 0)));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtMemUceRepair(0, ranges, 21), {"arraySize is 21"}));
    ranges[3].reserved[13] = 1;
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtMemUceRepair(0, ranges, 4), {"memUceInfoArray[3]"}));
    EXPECT_TRUE(IsOk(aclrtMemUceRepair(0, ranges, 3)));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtMemUceRepair(0, nullptr, 1), {"memUceInfoArray"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetErrorVerbose(0, nullptr), {"errorInfo"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtRepairError(0, nullptr), {"errorInfo"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetMemUceInfo(0, nullptr, 1, &count),
                        {"memUceInfoArray"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtGetMemUceInfo(0, ranges, 1, nullptr), {"retSize"}));
    EXPECT_TRUE(IsError(kNoDevice, aclrtGetErrorVerbose(2, &info), {"deviceId"}));
    EXPECT_TRUE(IsError(kNoDevice, aclrtRepairError(-1, &info), {"deviceId"}));
    EXPECT_TRUE(IsError(kNoDevice, aclrtGetMemUceInfo(2, ranges, 1, &count), {"deviceId"}));
    EXPECT_TRUE(IsError(kNoDevice, aclrtMemUceRepair(2, ranges, 1), {"deviceId"}));
}

}  // namespace
