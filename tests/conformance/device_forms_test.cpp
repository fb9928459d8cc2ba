// SPDX-License-Identifier: Apache-2.0
// Other forms of calls for devices: addresses on a bus, states of peers, several callbacks for
// failures, and those that only a profiler, a cache or an overflow would need.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace device_forms {
namespace {

using namespace support;

constexpr aclError kInvalid = ACL_ERROR_RT_PARAM_INVALID;
constexpr aclError kNull = ACL_ERROR_INVALID_PARAM;
constexpr aclError kNoDevice = ACL_ERROR_RT_INVALID_DEVICEID;

class DeviceFormsTest : public support::DeviceTest {};

TEST_F(DeviceFormsTest, AddressesOnABus) {
    char address[13] = "untouched";
    EXPECT_TRUE(IsError(kInvalid, aclrtDeviceGetPCIBusId(0, address, 12), {"len is 12"}, {13}));
    EXPECT_TRUE(IsError(kInvalid, aclrtDeviceGetPCIBusId(0, address, -1), {"len is -1"}));
    EXPECT_TRUE(IsError(kNoDevice, aclrtDeviceGetPCIBusId(2, address, 13), {"deviceId"}));
    EXPECT_TRUE(IsError(kNull, aclrtDeviceGetPCIBusId(0, nullptr, 13), {"pciBusId"}));
    EXPECT_STREQ(address, "untouched");
    for (const int32_t device : {0, 1}) {
        ASSERT_TRUE(IsOk(aclrtDeviceGetPCIBusId(device, address, 13)));
        EXPECT_EQ(address, "0000:0" + std::to_string(device + 1) + ":00.0");
        int32_t found = 77;
        EXPECT_TRUE(IsOk(aclrtDeviceGetByPCIBusId(address, &found)));
        EXPECT_EQ(found, device);
    }
    int32_t found = 77;
    EXPECT_TRUE(IsError(kInvalid, aclrtDeviceGetByPCIBusId("0000:03:00.0", &found),
                        {"pciBusId is \"0000:03:00.0\""}));
    EXPECT_TRUE(IsError(kNull, aclrtDeviceGetByPCIBusId(nullptr, &found), {"pciBusId"}));
    EXPECT_TRUE(IsError(kNull, aclrtDeviceGetByPCIBusId(address, nullptr), {"deviceId"}));
    EXPECT_EQ(found, 77);
}

TEST(VisibleBusTest, AddressesAreThoseOfTheMachine) {
    const EnvironmentGuard environment{Settings{}};
    setenv("ADVANCE_STEP_DEVICES", "16", 1);
    setenv("ASCEND_RT_VISIBLE_DEVICES", "10,15", 1);
    char address[16];
    EXPECT_TRUE(IsOk(aclrtDeviceGetPCIBusId(0, address, sizeof(address))));
    EXPECT_STREQ(address, "0000:0b:00.0");
    int32_t found = 77;
    EXPECT_TRUE(IsOk(aclrtDeviceGetByPCIBusId("0000:0B:00.0", &found)));
    EXPECT_EQ(found, 0);
    EXPECT_TRUE(IsError(kInvalid, aclrtDeviceGetByPCIBusId("0000:01:00.0", &found)));
    unsetenv("ASCEND_RT_VISIBLE_DEVICES");
    EndRuntime();
}

TEST_F(DeviceFormsTest, PeerAccessHasAState) {
    int32_t status = 77;
    const auto there = [&] {
        EXPECT_TRUE(IsOk(aclrtDevicePeerAccessStatus(0, 1, &status)));
        return status;
    };
    EXPECT_EQ(there(), 0);
    ASSERT_TRUE(IsOk(aclrtDeviceEnablePeerAccess(1, 0)));
    EXPECT_EQ(there(), 1);
    EXPECT_TRUE(IsOk(aclrtDevicePeerAccessStatus(1, 0, &status)));
    EXPECT_EQ(status, 0) << "the other direction";
    ASSERT_TRUE(IsOk(aclrtDeviceDisablePeerAccess(1)));
    EXPECT_EQ(there(), 0);
    EXPECT_TRUE(IsError(kNull, aclrtDevicePeerAccessStatus(0, 0, &status), {"peerDeviceId is 0"}));
    EXPECT_TRUE(IsError(kNull, aclrtDevicePeerAccessStatus(0, 1, nullptr), {"status"}));
    EXPECT_TRUE(IsError(kNoDevice, aclrtDevicePeerAccessStatus(2, 0, &status), {"deviceId"}));
    EXPECT_TRUE(IsError(kNoDevice, aclrtDevicePeerAccessStatus(0, -1, &status), {"peerDeviceId"}));
}

TEST_F(DeviceFormsTest, CodeOfWhichSocCanRun) {
    for (const auto& [name, can] :
         {std::pair{aclrtGetSocName(), 1}, {"Ascend910B4", 1}, {"Ascend310P3", 0}, {"", 0}}) {
        int32_t compatible = 77;
        EXPECT_TRUE(IsOk(aclrtCheckArchCompatibility(name, &compatible)));
        EXPECT_EQ(compatible, can) << name;
    }
    int32_t compatible = 77;
    EXPECT_TRUE(IsError(kNull, aclrtCheckArchCompatibility(nullptr, &compatible), {"socVersion"}));
    EXPECT_TRUE(IsError(kNull, aclrtCheckArchCompatibility("x", nullptr), {"canCompatible"}));
}

TEST_F(DeviceFormsTest, EventsThatAreLeft) {
    uint32_t before = 0, after = 0;
    EXPECT_TRUE(IsOk(aclrtGetEventAvailNum(&before)));
    {
        const Event event = MakeEvent();
        EXPECT_TRUE(IsOk(aclrtGetEventAvailNum(&after)));
    }
    EXPECT_EQ(before, after + 1);
    EXPECT_TRUE(IsOk(aclrtGetEventAvailNum(&after)));
    EXPECT_EQ(before, after);
    EXPECT_TRUE(IsError(kNull, aclrtGetEventAvailNum(nullptr), {"eventCount"}));
}

TEST_F(DeviceFormsTest, OverflowStatusByItsOtherNames) {
    const DeviceBuffer device(std::vector<uint8_t>(64, 7));
    const Stream stream = MakeStream();
    const std::vector<uint8_t> zeros(64, 0);
    EXPECT_TRUE(IsOk(aclrtGetFloatOverflowStatus(device.Get(), 64, stream.Get())));
    EXPECT_TRUE(IsOk(aclrtResetFloatOverflowStatus(stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(device.Download<uint8_t>(), zeros);
    device.Upload(std::vector<uint8_t>(64, 7));
    EXPECT_TRUE(IsOk(aclrtNpuGetFloatOverFlowStatus(device.Get(), 64, 1, stream.Get())));
    EXPECT_TRUE(IsOk(aclrtNpuClearFloatOverFlowStatus(1, stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(device.Download<uint8_t>(), zeros);
    EXPECT_TRUE(IsError(kInvalid, aclrtGetFloatOverflowStatus(device.Get(), 65, nullptr),
                        {"aclrtGetFloatOverflowStatus: outputSize is 65"}));
    EXPECT_TRUE(IsError(kNull, aclrtNpuGetFloatOverFlowStatus(nullptr, 64, 0, nullptr),
                        {"aclrtNpuGetFloatOverFlowStatus: outputAddr"}));
}

TEST_F(DeviceFormsTest, CallsWithoutAnEffectCheckTheirArguments) {
    char info[4] = {};
    const Stream stream = MakeStream();
    EXPECT_TRUE(IsOk(aclrtDeviceL2CacheFlush(nullptr)));
    EXPECT_TRUE(IsError(kNull, aclrtDeviceL2CacheFlush(info), {"rsv is"}));
    EXPECT_TRUE(IsOk(aclrtCacheLastTaskOpInfo(info, 4)));
    EXPECT_TRUE(IsError(kNull, aclrtCacheLastTaskOpInfo(nullptr, 4), {"infoPtr"}));
    EXPECT_TRUE(IsError(kNull, aclrtCacheLastTaskOpInfo(info, 0), {"infoSize is 0"}));
    EXPECT_TRUE(IsOk(aclrtCacheLastTaskExtendInfo(info, 4)));
    EXPECT_TRUE(IsError(kNull, aclrtCacheLastTaskExtendInfo(nullptr, 4), {"extendInfoPtr"}));
    EXPECT_TRUE(IsError(kNull, aclrtCacheLastTaskExtendInfo(info, 0), {"infoSize is 0"}));
    EXPECT_TRUE(IsOk(aclrtProfTrace(info, 4, stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsError(kNull, aclrtProfTrace(nullptr, 4, stream.Get()), {"userdata"}));
    EXPECT_TRUE(IsError(kInvalid, aclrtProfTrace(info, 0, stream.Get()), {"length is 0"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtProfTrace(info, 4, info)));
}

// Callbacks that note which of them were called: the thread that ran the task calls them, and the
// synchronisation comes after.
std::string called;
template <char kName>
void Note(aclrtExceptionInfo*) {
    called += kName;
}

class ExceptionCallbacksTest : public support::DeviceTest {
 protected:
    static std::string Fail() {
        called.clear();
        EXPECT_TRUE(IsOk(EnqueueFailure(nullptr)));
        EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_FAILURE);
        return called;
    }
};

template <int... kNumbers>
std::vector<aclrtExceptionInfoCallback> Several(std::integer_sequence<int, kNumbers...>) {
    return {&Note<static_cast<char>('a' + kNumbers)>...};
}

TEST_F(ExceptionCallbacksTest, AreCalledBesideTheFirst) {
    EXPECT_EQ(Fail(), "");
    ASSERT_TRUE(IsOk(aclrtExceptionInfoCallbackRegister(&Note<'a'>)));
    ASSERT_TRUE(IsOk(aclrtExceptionInfoCallbackRegister(&Note<'b'>)));
    ASSERT_TRUE(IsOk(aclrtExceptionInfoCallbackRegister(&Note<'a'>))) << "once";
    EXPECT_EQ(Fail(), "ab");
    ASSERT_TRUE(IsOk(aclrtSetExceptionInfoCallback(&Note<'s'>)));
    EXPECT_EQ(Fail(), "sab");
    EXPECT_TRUE(IsOk(aclrtExceptionInfoCallbackUnregister(&Note<'a'>)));
    EXPECT_EQ(Fail(), "sb");
    EXPECT_TRUE(IsError(kInvalid, aclrtExceptionInfoCallbackUnregister(&Note<'a'>),
                        {"aclrtExceptionInfoCallbackUnregister: callback"}));
    EXPECT_TRUE(IsError(kInvalid, aclrtExceptionInfoCallbackUnregister(&Note<'s'>)))
        << "that is not a registered one";
    ASSERT_TRUE(IsOk(aclrtSetExceptionInfoCallback(nullptr)));
    EXPECT_EQ(Fail(), "b");
    Restart({});
    EXPECT_EQ(Fail(), "") << "the end of the runtime removes all";
}

TEST_F(ExceptionCallbacksTest, HaveALimit) {
    const auto callbacks = Several(std::make_integer_sequence<int, 17>());
    for (size_t i = 0; i < 16; ++i) {
        ASSERT_TRUE(IsOk(aclrtExceptionInfoCallbackRegister(callbacks[i])));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                        aclrtExceptionInfoCallbackRegister(callbacks[16]),
                        {"aclrtExceptionInfoCallbackRegister: 16 callbacks"}));
    EXPECT_EQ(Fail(), "abcdefghijklmnop");
    EXPECT_TRUE(IsOk(aclrtExceptionInfoCallbackUnregister(callbacks[3])));
    EXPECT_TRUE(IsOk(aclrtExceptionInfoCallbackRegister(callbacks[16])));
    EXPECT_EQ(Fail(), "abcqefghijklmnop");
    EXPECT_TRUE(IsError(kNull, aclrtExceptionInfoCallbackRegister(nullptr), {"callback is null"}));
    EXPECT_TRUE(IsError(kNull, aclrtExceptionInfoCallbackUnregister(nullptr), {"callback"}));
}

}  // namespace
}  // namespace device_forms
