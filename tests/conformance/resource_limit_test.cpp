// SPDX-License-Identifier: Apache-2.0
// Resource limits: which one is in effect, and that they cut work and change no result.
#include <gtest/gtest.h>

#include <thread>

#include "acl/acl.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/step_batch.h"
#include "support/threads.h"

namespace {

using namespace support;

constexpr aclrtDevResLimitType kCube = ACL_RT_DEV_RES_CUBE_CORE;
constexpr aclrtDevResLimitType kVector = ACL_RT_DEV_RES_VECTOR_CORE;
constexpr uint32_t kUntouchedLimit = 7777;

class ResourceLimitTest : public support::DeviceTest {
 protected:
    static uint32_t OfDevice(int32_t device, aclrtDevResLimitType type) {
        uint32_t value = kUntouchedLimit;
        EXPECT_TRUE(IsOk(aclrtGetDeviceResLimit(device, type, &value)));
        return value;
    }
    static uint32_t OfStream(aclrtStream stream, aclrtDevResLimitType type) {
        uint32_t value = kUntouchedLimit;
        EXPECT_TRUE(IsOk(aclrtGetStreamResLimit(stream, type, &value)));
        return value;
    }
    static uint32_t InEffect(aclrtDevResLimitType type) {
        uint32_t value = kUntouchedLimit;
        EXPECT_TRUE(IsOk(aclrtGetResInCurrentThread(type, &value)));
        return value;
    }
    // Grows with the number of cores that a plan cuts 40 slots over.
    static uint64_t StepWorkspace() {
        // Slots enough for 40 cores.
        support::StepBatch batch(reference::IdleStepData({10240, 10240, 6, 2, 16, 10, 4}));
        EXPECT_TRUE(IsOk(batch.Plan()));
        const uint64_t size = batch.WorkspaceSize();
        EXPECT_TRUE(IsOk(batch.LaunchAndWait(nullptr)));
        return size;
    }
};

TEST_F(ResourceLimitTest, WithoutALimitTheSocsCoresAreInEffect) {
    EXPECT_EQ(OfDevice(0, kCube), 20U);
    EXPECT_EQ(OfDevice(1, kVector), 40U);
    EXPECT_EQ(OfStream(nullptr, kCube), 20U);
    EXPECT_EQ(OfStream(nullptr, kVector), 40U);
    EXPECT_EQ(InEffect(kCube), 20U);
    EXPECT_EQ(InEffect(kVector), 40U);
}

TEST_F(ResourceLimitTest, ALimitIsOfOneDeviceAndType) {
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(1, kVector, 40)));
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(1, kVector, 9)));
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(1, kCube, 1)));
    EXPECT_EQ(OfDevice(1, kVector), 9U);
    EXPECT_EQ(OfDevice(1, kCube), 1U);
    EXPECT_EQ(OfDevice(0, kVector), 40U);
    EXPECT_EQ(InEffect(kVector), 40U);
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_EQ(InEffect(kVector), 9U);
    EXPECT_EQ(OfStream(nullptr, kVector), 9U);
    ASSERT_TRUE(IsOk(aclrtResetDeviceResLimit(1)));
    EXPECT_EQ(OfDevice(1, kVector), 40U);
    EXPECT_EQ(OfDevice(1, kCube), 20U);
}

TEST_F(ResourceLimitTest, AStreamsLimitIsInEffectWhileTheThreadUsesIt) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, kVector, 30)));
    ASSERT_TRUE(IsOk(aclrtSetStreamResLimit(stream.Get(), kVector, 5)));
    ASSERT_TRUE(IsOk(aclrtSetStreamResLimit(other.Get(), kVector, 35)));
    EXPECT_EQ(OfStream(stream.Get(), kVector), 5U);
    EXPECT_EQ(InEffect(kVector), 30U);
    ASSERT_TRUE(IsOk(aclrtUseStreamResInCurrentThread(stream.Get())));
    EXPECT_EQ(InEffect(kVector), 5U);
    EXPECT_EQ(InEffect(kCube), 20U) << "the stream has no limit of that type";
    support::OnAnotherThread([] { EXPECT_EQ(InEffect(kVector), 30U) << "another thread"; });
    ASSERT_TRUE(IsOk(aclrtSetStreamResLimit(stream.Get(), kVector, 6)));
    EXPECT_EQ(InEffect(kVector), 6U) << "a change takes effect at once";
    ASSERT_TRUE(IsOk(aclrtUseStreamResInCurrentThread(other.Get())));
    EXPECT_EQ(InEffect(kVector), 35U) << "the latest use counts, above the device's limit or not";
    ASSERT_TRUE(IsOk(aclrtResetStreamResLimit(other.Get())));
    EXPECT_EQ(InEffect(kVector), 30U);
    ASSERT_TRUE(IsOk(aclrtUseStreamResInCurrentThread(stream.Get())));
    ASSERT_TRUE(IsOk(aclrtUnuseStreamResInCurrentThread(stream.Get())));
    EXPECT_EQ(InEffect(kVector), 30U);
}

TEST_F(ResourceLimitTest, OnlyTheStreamInUseCanBeUnused) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        aclrtUnuseStreamResInCurrentThread(stream.Get()),
                        {"aclrtUnuseStreamResInCurrentThread: ", "stream"}));
    ASSERT_TRUE(IsOk(aclrtUseStreamResInCurrentThread(stream.Get())));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtUnuseStreamResInCurrentThread(other.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtUnuseStreamResInCurrentThread(nullptr)));
    EXPECT_TRUE(IsOk(aclrtUnuseStreamResInCurrentThread(stream.Get())));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtUnuseStreamResInCurrentThread(stream.Get())));
}

TEST_F(ResourceLimitTest, TheDefaultStreamCanBeUsed) {
    ASSERT_TRUE(IsOk(aclrtSetStreamResLimit(nullptr, kVector, 4)));
    ASSERT_TRUE(IsOk(aclrtUseStreamResInCurrentThread(nullptr)));
    EXPECT_EQ(InEffect(kVector), 4U);
    aclrtStream byHandle = nullptr;
    ASSERT_TRUE(IsOk(aclrtCtxGetCurrentDefaultStream(&byHandle)));
    EXPECT_EQ(OfStream(byHandle, kVector), 4U);
    EXPECT_TRUE(IsOk(aclrtUnuseStreamResInCurrentThread(byHandle)));
    EXPECT_EQ(InEffect(kVector), 40U);
}

TEST_F(ResourceLimitTest, AStreamsLimitEndsWithIt) {
    Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(aclrtSetStreamResLimit(stream.Get(), kVector, 5)));
    ASSERT_TRUE(IsOk(aclrtUseStreamResInCurrentThread(stream.Get())));
    EXPECT_EQ(InEffect(kVector), 5U);
    const aclrtStream gone = stream.Release();
    ASSERT_TRUE(IsOk(aclrtDestroyStream(gone)));
    EXPECT_EQ(InEffect(kVector), 40U);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtUnuseStreamResInCurrentThread(gone)));
    for (int i = 0; i < 100; ++i) {
        const Stream next = MakeStream();
        EXPECT_EQ(OfStream(next.Get(), kVector), 40U);
    }
    EXPECT_EQ(InEffect(kVector), 40U) << "a later stream in its place is another stream";
}

TEST_F(ResourceLimitTest, AStreamsLimitIsForItsDeviceOnly) {
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(aclrtSetStreamResLimit(stream.Get(), kVector, 5)));
    ASSERT_TRUE(IsOk(aclrtUseStreamResInCurrentThread(stream.Get())));
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_EQ(InEffect(kVector), 40U);
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    EXPECT_EQ(InEffect(kVector), 5U) << "another context of the device";
    EXPECT_TRUE(IsOk(aclrtDestroyContext(context)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_EQ(InEffect(kVector), 5U);
}

TEST_F(ResourceLimitTest, ADevicesLimitEndsWithItsReset) {
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, kVector, 5)));
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(1, kVector, 6)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    ASSERT_TRUE(IsOk(aclrtResetDevice(0)));
    EXPECT_EQ(OfDevice(0, kVector), 5U) << "still in use";
    ASSERT_TRUE(IsOk(aclrtResetDevice(0)));
    EXPECT_EQ(OfDevice(0, kVector), 40U);
    EXPECT_EQ(OfDevice(1, kVector), 6U);
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_EQ(OfDevice(1, kVector), 40U) << "the runtime was ended";
}

TEST_F(ResourceLimitTest, LimitsOutOfRangeAreRefused) {
    const Stream stream = MakeStream();
    for (const uint32_t value : {0U, 41U, UINT32_MAX}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSetDeviceResLimit(0, kVector, value),
                            {"aclrtSetDeviceResLimit: ", "value"}, {value, 40}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtSetStreamResLimit(stream.Get(), kVector, value),
                            {"aclrtSetStreamResLimit: ", "value"}, {value, 40}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSetDeviceResLimit(0, kCube, 21), {"cube"},
                        {21, 20}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSetStreamResLimit(stream.Get(), kCube, 21)));
    EXPECT_EQ(OfDevice(0, kVector), 40U);
    EXPECT_EQ(OfStream(stream.Get(), kVector), 40U);
}

TEST_F(ResourceLimitTest, UnknownTypesAreRefused) {
    const Stream stream = MakeStream();
    for (const int number : {-1, 2, 99}) {
        const auto type = static_cast<aclrtDevResLimitType>(number);
        uint32_t value = kUntouchedLimit;
        for (const int status :
             {aclrtSetDeviceResLimit(0, type, 1), aclrtGetDeviceResLimit(0, type, &value),
              aclrtSetStreamResLimit(stream.Get(), type, 1),
              aclrtGetStreamResLimit(stream.Get(), type, &value),
              aclrtGetResInCurrentThread(type, &value)}) {
            EXPECT_EQ(status, ACL_ERROR_RT_PARAM_INVALID);
        }
        EXPECT_EQ(value, kUntouchedLimit);
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSetDeviceResLimit(0, type, 1),
                            {"aclrtSetDeviceResLimit: ", "type"}, {number}));
    }
}

TEST_F(ResourceLimitTest, UnknownDevicesAndNullAreRefused) {
    uint32_t value = kUntouchedLimit;
    for (const int32_t device : {-1, 2}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID,
                            aclrtSetDeviceResLimit(device, kVector, 1), {"deviceId"}, {device}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID,
                            aclrtGetDeviceResLimit(device, kVector, &value), {"deviceId"}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtResetDeviceResLimit(device),
                            {"aclrtResetDeviceResLimit: ", "deviceId"}));
    }
    EXPECT_EQ(value, kUntouchedLimit);
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtGetDeviceResLimit(0, kVector, nullptr), {"value"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetStreamResLimit(nullptr, kVector, nullptr),
                        {"value"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtGetResInCurrentThread(kVector, nullptr), {"value"}));
}

TEST_F(ResourceLimitTest, CutsLaterPlans) {
    const uint64_t full = StepWorkspace();
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, kCube, 1)));
    EXPECT_EQ(StepWorkspace(), full) << "no operator uses cube cores";
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, kVector, 20)));
    const uint64_t half = StepWorkspace();
    EXPECT_LT(half, full);
    const Stream stream = MakeStream();
    ASSERT_TRUE(IsOk(aclrtSetStreamResLimit(stream.Get(), kVector, 1)));
    EXPECT_EQ(StepWorkspace(), half);
    ASSERT_TRUE(IsOk(aclrtUseStreamResInCurrentThread(stream.Get())));
    EXPECT_LT(StepWorkspace(), half);
    ASSERT_TRUE(IsOk(aclrtUnuseStreamResInCurrentThread(stream.Get())));
    EXPECT_EQ(StepWorkspace(), half);
    ASSERT_TRUE(IsOk(aclrtResetDeviceResLimit(0)));
    EXPECT_EQ(StepWorkspace(), full);
}

TEST_F(ResourceLimitTest, APlanKeepsItsOwn) {
    support::StepBatch batch(reference::IdleStepData({40, 41, 6, 2, 16, 10, 4}));
    ASSERT_TRUE(IsOk(batch.PlanRepeatable()));
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, kVector, 1)));
    EXPECT_TRUE(IsOk(batch.LaunchAndWait(nullptr)));
}

// conformance exact moves as many queries as the SoC has vector cores, limits or not.
TEST_F(ResourceLimitTest, ChangeNoResult) {
    for (const std::string conformance : {"standard", "exact"}) {
        ASSERT_NO_FATAL_FAILURE(Restart({{"ADVANCE_STEP_CONFORMANCE", conformance}}));
        for (const uint32_t limit : {1U, 2U, 7U, 39U, 40U}) {
            ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, kVector, limit)));
            support::AdvanceStepBatch batch(support::MakeBatch(100, 77, 16, 9, limit));
            ASSERT_TRUE(IsOk(batch.Run(nullptr)));
            EXPECT_TRUE(batch.Holds(conformance == "exact"
                                        ? support::AdvancedExactly(batch.Data(), 40)
                                        : support::Advanced(batch.Data())))
                << conformance << " with " << limit << " cores";
        }
    }
}

// Plans of some threads while others set and take limits away: every plan is whole.
TEST_F(ResourceLimitTest, PlansAndLimitsMeet) {
    const aclrtContext context = support::CurrentContext();
    const Stream stream = MakeStream();
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; ++thread) {
        threads.emplace_back([&, thread] {
            ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            if (thread == 0) {
                ASSERT_TRUE(IsOk(aclrtUseStreamResInCurrentThread(stream.Get())));
            }
            for (uint32_t round = 1; round <= 100; ++round) {
                if (thread == 2) {
                    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(0, kVector, 1 + round % 40)));
                    ASSERT_TRUE(
                        IsOk(aclrtSetStreamResLimit(stream.Get(), kVector, 1 + round % 17)));
                    ASSERT_TRUE(IsOk(aclrtResetStreamResLimit(stream.Get())));
                    ASSERT_TRUE(IsOk(aclrtResetDeviceResLimit(0)));
                    continue;
                }
                const Stream own = MakeStream();
                support::AdvanceStepBatch batch(support::MakeBatch(50, 33, 16, 3, round));
                ASSERT_TRUE(IsOk(batch.Run(own.Get())));
                ASSERT_TRUE(batch.Holds(support::Advanced(batch.Data())));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

}  // namespace
