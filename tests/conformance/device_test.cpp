// SPDX-License-Identifier: Apache-2.0
// Devices: acl_rt.h, section devices.
#include <gtest/gtest.h>

#include <functional>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using support::IsError;
using support::IsOk;
using support::Recorder;

class DevicesTest : public support::DeviceTest {
 protected:
    static int32_t CurrentDevice() {
        int32_t device = -1;
        EXPECT_TRUE(IsOk(aclrtGetDevice(&device)));
        return device;
    }
    static size_t FreeBytes() {
        size_t free = 0, total = 0;
        EXPECT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total)));
        return free;
    }
};

TEST_F(DevicesTest, SetMakesTheDeviceCurrent) {
    EXPECT_EQ(CurrentDevice(), 0);
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_EQ(CurrentDevice(), 1);
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_EQ(CurrentDevice(), 0);
}

TEST_F(DevicesTest, SetTakesThePrimaryContext) {
    const aclrtContext primary = support::CurrentContext();
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_NE(support::CurrentContext(), primary);
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_EQ(support::CurrentContext(), primary);
    std::thread([primary] {
        ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
        EXPECT_EQ(support::CurrentContext(), primary);
    }).join();
}

TEST_F(DevicesTest, SetRefusesUnknownDevices) {
    for (const int32_t device : {-1, 2, 1000000}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(device),
                            {"aclrtSetDevice: ", "deviceId", std::to_string(device)}));
    }
    EXPECT_EQ(CurrentDevice(), 0);
}

TEST_F(DevicesTest, CurrentDeviceBelongsToTheThread) {
    std::thread([] {
        int32_t device = 77;
        EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device)));
        EXPECT_EQ(device, 77);
        ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
        EXPECT_EQ(CurrentDevice(), 1);
    }).join();
    EXPECT_EQ(CurrentDevice(), 0);
}

TEST_F(DevicesTest, GetNeedsAnOutput) {
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetDevice(nullptr), {"deviceId"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceCount(nullptr), {"count"}));
}

TEST_F(DevicesTest, CountIsTheSetting) {
    uint32_t count = 0;
    ASSERT_TRUE(IsOk(aclrtGetDeviceCount(&count)));
    EXPECT_EQ(count, 2U);
    ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_DEVICES", "5"}}));
    ASSERT_TRUE(IsOk(aclrtGetDeviceCount(&count)));
    EXPECT_EQ(count, 5U);
    EXPECT_TRUE(IsOk(aclrtSetDevice(4)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(5)));
}

TEST_F(DevicesTest, CountNeedsNoContext) {
    std::thread([] {
        uint32_t count = 0;
        EXPECT_TRUE(IsOk(aclrtGetDeviceCount(&count)));
        EXPECT_EQ(count, 2U);
    }).join();
}

TEST_F(DevicesTest, ResetRefusesUnknownDevices) {
    for (const int32_t device : {-1, 2}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtResetDevice(device),
                            {"aclrtResetDevice: ", "deviceId"}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtResetDeviceForce(device),
                            {"aclrtResetDeviceForce: ", "deviceId"}));
    }
}

TEST_F(DevicesTest, ResetRefusesADeviceThatIsNotSet) {
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(1)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDeviceForce(1)));
    ASSERT_TRUE(IsOk(aclrtResetDevice(0)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0)));
}

TEST_F(DevicesTest, ResetCountsUses) {
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    std::thread([] { ASSERT_TRUE(IsOk(aclrtSetDevice(0))); }).join();
    const support::Stream stream = support::MakeStream();
    ASSERT_TRUE(IsOk(aclrtResetDevice(0)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    ASSERT_TRUE(IsOk(aclrtResetDevice(0)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    ASSERT_TRUE(IsOk(aclrtResetDevice(0)));
    int32_t device = 0;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device)));
}

using ResetCall = aclError (*)(int32_t);

// What both resets take away once they take effect.
void ExpectThatResetFrees(ResetCall reset) {
    const aclrtContext primary = support::CurrentContext();
    size_t before = 0, after = 0, total = 0;
    ASSERT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total)));
    const aclrtStream stream = support::MakeStream().Release();
    const aclrtEvent event = support::MakeEvent().Release();
    void* const memory = support::DeviceBuffer(1 << 20).Release();
    ASSERT_TRUE(IsOk(reset(0)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyEvent(event)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(primary)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(memory)));
    ASSERT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total)));
    EXPECT_EQ(after, before);
}

TEST_F(DevicesTest, ResetFreesWhatTheDeviceHas) { ExpectThatResetFrees(aclrtResetDevice); }

TEST_F(DevicesTest, ForcedResetFreesWhatTheDeviceHas) {
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    ExpectThatResetFrees(aclrtResetDeviceForce);
}

TEST_F(DevicesTest, ResetLeavesOtherDevicesAlone) {
    const support::Stream stream = support::MakeStream();
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    ASSERT_TRUE(IsOk(aclrtResetDevice(1)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_F(DevicesTest, ResetLeavesOtherContextsOfTheDevice) {
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    const support::Stream stream = support::MakeStream();
    const Recorder recorder;
    ASSERT_TRUE(IsOk(aclrtResetDevice(0)));
    EXPECT_EQ(support::CurrentContext(), context);
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
    EXPECT_TRUE(IsOk(aclrtDestroyContext(context)));
}

TEST_F(DevicesTest, ResetWaitsForPendingWork) {
    const aclrtStream stream = support::MakeStream().Release();
    const Recorder recorder;
    const support::HostGate gate(stream);
    for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(IsOk(recorder.Mark(stream, i)));
    }
    std::thread opener([&gate] {
        EXPECT_TRUE(gate.WaitEntered());
        gate.Open();
    });
    EXPECT_TRUE(IsOk(aclrtResetDevice(0)));
    EXPECT_EQ(recorder.Values().size(), 50U);
    opener.join();
}

TEST_F(DevicesTest, SynchronizeWaitsForEveryStream) {
    const Recorder recorder;
    std::vector<support::Stream> streams;
    for (int i = 0; i < 5; ++i) {
        streams.push_back(support::MakeStream());
    }
    aclrtContext context = nullptr;
    const aclrtContext primary = support::CurrentContext();
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    ASSERT_TRUE(IsOk(recorder.Mark(nullptr, 5)));
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
    ASSERT_TRUE(IsOk(recorder.Mark(nullptr, 6)));
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(IsOk(recorder.Mark(streams[i].Get(), i)));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
    EXPECT_EQ(recorder.Values().size(), 7U) << "also those of another context of the device";
    EXPECT_TRUE(IsOk(aclrtDestroyContext(context)));
}

TEST_F(DevicesTest, SynchronizeDoesNotWaitForOtherDevices) {
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    const support::Stream other = support::MakeStream();
    const support::HostGate gate(other.Get());
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
}

TEST_F(DevicesTest, SynchronizeReportsTheFirstFailureOnce) {
    const support::Stream stream = support::MakeStream();
    ASSERT_TRUE(IsOk(support::EnqueueFailure(stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeDevice()));
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_F(DevicesTest, SynchronizeReportsNothingTwice) {
    const support::Stream stream = support::MakeStream();
    ASSERT_TRUE(IsOk(support::EnqueueFailure(stream.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
}

TEST_F(DevicesTest, MemoryOfDevicesIsSeparate) {
    ASSERT_NO_FATAL_FAILURE(
        Restart({{"ADVANCE_STEP_MEMORY", "1G"}}));  // else they share the host's
    const size_t before = FreeBytes();
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    const support::DeviceBuffer memory(1 << 20);
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_EQ(FreeBytes(), before);
}

}  // namespace
