// SPDX-License-Identifier: Apache-2.0
// Properties of devices, and several devices at once.
#include <gtest/gtest.h>

#include <climits>
#include <thread>

#include "acl/acl.h"
#include "advance_step/counters.h"
#include "support/advance_step_batch.h"
#include "support/batches.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using support::IsError;
using support::IsOk;

struct SocCase {
    std::string name;
    std::string soc;
    int64_t aiCores;
    int64_t vectorCores;
};

class DeviceInfoTest : public support::DeviceTest, public testing::WithParamInterface<SocCase> {
 protected:
    static int64_t Info(uint32_t device, aclrtDevAttr attr) {
        int64_t value = -7;
        EXPECT_TRUE(IsOk(aclrtGetDeviceInfo(device, attr, &value)));
        return value;
    }
};

TEST_P(DeviceInfoTest, DescribesTheSoc) {
    ASSERT_NO_FATAL_FAILURE(
        Restart({{"ADVANCE_STEP_SOC", GetParam().soc}, {"ADVANCE_STEP_MEMORY", "64M"}}));
    for (const uint32_t device : {0U, 1U}) {
        EXPECT_EQ(Info(device, ACL_DEV_ATTR_AICORE_CORE_NUM), GetParam().aiCores);
        EXPECT_EQ(Info(device, ACL_DEV_ATTR_CUBE_CORE_NUM), GetParam().aiCores);
        EXPECT_EQ(Info(device, ACL_DEV_ATTR_VECTOR_CORE_NUM), GetParam().vectorCores);
        EXPECT_EQ(Info(device, ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE), 196608);
        EXPECT_EQ(Info(device, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE), int64_t{64} << 20);
        EXPECT_EQ(Info(device, ACL_DEV_ATTR_L2_CACHE_SIZE), int64_t{192} << 20);
        EXPECT_EQ(Info(device, ACL_DEV_ATTR_IS_VIRTUAL), 0);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Table, DeviceInfoTest,
    testing::Values(SocCase{"B1", "Ascend910B1", 24, 48}, SocCase{"B2", "Ascend910B2", 24, 48},
                    SocCase{"B3", "Ascend910B3", 20, 40}, SocCase{"B4", "Ascend910B4", 20, 40},
                    SocCase{"C", "Ascend910_9391", 24, 48}, SocCase{"Sim7", "sim:7", 4, 7}),
    support::CaseName());

class DeviceQueryTest : public support::DeviceTest {};

TEST_F(DeviceQueryTest, InfoRefusesWhatItDoesNotKnow) {
    int64_t value = -7;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtGetDeviceInfo(0, ACL_DEV_ATTR_IS_VIRTUAL, nullptr),
                        {"aclrtGetDeviceInfo: ", "value"}));
    for (const uint32_t device : {2U, static_cast<uint32_t>(INT_MAX), UINT_MAX}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID,
                            aclrtGetDeviceInfo(device, ACL_DEV_ATTR_IS_VIRTUAL, &value),
                            {"aclrtGetDeviceInfo: ", "deviceId"}, {device, 2}));
    }
    for (const int attr : {0, 100, 103, 200, 205, 303, 502}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtGetDeviceInfo(0, static_cast<aclrtDevAttr>(attr), &value),
                            {"aclrtGetDeviceInfo: ", "attr"}, {attr}));
    }
    EXPECT_EQ(value, -7);
}

TEST_F(DeviceQueryTest, InfoNeedsNoContextAndKnowsNoLimit) {
    ASSERT_TRUE(IsOk(aclrtSetDeviceResLimit(1, ACL_RT_DEV_RES_VECTOR_CORE, 3)));
    std::thread([] {
        int64_t value = 0;
        EXPECT_TRUE(IsOk(aclrtGetDeviceInfo(1, ACL_DEV_ATTR_VECTOR_CORE_NUM, &value)));
        EXPECT_EQ(value, 40);
    }).join();
}

TEST_F(DeviceQueryTest, PrimaryContextIsThereWhileTheDeviceIsSet) {
    const auto active = [](int32_t device) {
        uint32_t flags = 7;
        int32_t found = -7;
        EXPECT_TRUE(IsOk(aclrtGetPrimaryCtxState(device, &flags, &found)));
        EXPECT_EQ(flags, 0U);
        return found;
    };
    EXPECT_EQ(active(0), 1);
    EXPECT_EQ(active(1), 0);
    aclrtContext other = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&other, 1)));
    EXPECT_EQ(active(1), 0) << "that is no primary context";
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_EQ(active(1), 1);
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    ASSERT_TRUE(IsOk(aclrtResetDevice(1)));
    EXPECT_EQ(active(1), 1);
    ASSERT_TRUE(IsOk(aclrtResetDevice(1)));
    EXPECT_EQ(active(1), 0);
    int32_t value = -7;
    EXPECT_TRUE(IsOk(aclrtGetPrimaryCtxState(0, nullptr, &value)));
    EXPECT_EQ(value, 1);
    EXPECT_TRUE(IsOk(aclrtDestroyContext(other)));
}

TEST_F(DeviceQueryTest, PrimaryStateRefusesNullAndUnknownDevices) {
    uint32_t flags = 7;
    int32_t active = -7;
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetPrimaryCtxState(0, &flags, nullptr),
                        {"aclrtGetPrimaryCtxState: ", "active"}));
    for (const int32_t device : {-1, 2}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID,
                            aclrtGetPrimaryCtxState(device, &flags, &active),
                            {"aclrtGetPrimaryCtxState: ", "deviceId"}, {device}));
    }
    EXPECT_EQ(flags, 7U);
    EXPECT_EQ(active, -7);
}

// Each device in a thread of its own, many contexts, all at once.
class DevicesAtOnceTest : public support::DeviceTest {};

TEST_F(DevicesAtOnceTest, HaveTheirOwnMemoryWorkAndCounters) {
    constexpr int32_t kDevices = 4;
    constexpr int kRuns = 20;
    ASSERT_NO_FATAL_FAILURE(
        Restart({{"ADVANCE_STEP_DEVICES", "4"}, {"ADVANCE_STEP_MEMORY", "64M"}}));
    std::vector<std::thread> threads;
    for (int32_t device = 0; device < kDevices; ++device) {
        threads.emplace_back([device] {
            ASSERT_TRUE(IsOk(aclrtSetDevice(device)));
            aclrtContext context = nullptr;
            ASSERT_TRUE(IsOk(aclrtCreateContext(&context, device)));
            for (int run = 0; run < kRuns * (device + 1); ++run) {
                support::AdvanceStepBatch batch(support::MakeBatch(
                    20 + device, 10 + device, 16, 4, static_cast<uint64_t>(run * 10 + device)));
                const support::Stream stream = support::MakeStream();
                ASSERT_TRUE(IsOk(batch.Run(stream.Get())));
                ASSERT_TRUE(batch.Holds(support::Advanced(batch.Data())));
            }
            ASSERT_TRUE(IsOk(aclrtDestroyContext(context)));
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (int32_t device = 0; device < kDevices; ++device) {
        AdvStepCounters counters = {};
        ASSERT_TRUE(IsOk(advstepReadCounters(device, &counters)));
        EXPECT_EQ(counters.launches, static_cast<uint64_t>(kRuns * (device + 1)));
        EXPECT_EQ(counters.advanced, static_cast<uint64_t>(kRuns * (device + 1)) *
                                         (10 + static_cast<uint64_t>(device)));
    }
}

// A failure, and a held stream, of one device are nothing to another.
TEST_F(DevicesAtOnceTest, FailAndWaitOnTheirOwn) {
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    const support::Stream failing = support::MakeStream();
    const support::Stream held = support::MakeStream();
    const support::HostGate gate(held.Get());
    ASSERT_TRUE(IsOk(support::EnqueueFailure(failing.Get())));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSynchronizeStream(failing.Get())));
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeDevice()));
}

TEST_F(DevicesAtOnceTest, AnExecutorBelongsToItsDevice) {
    support::AdvanceStepBatch batch(support::MakeBatch(9, 6, 4, 5, 1));
    ASSERT_TRUE(IsOk(batch.Plan()));
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, batch.Launch(nullptr), {"107003", "device 0"}));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(batch.IsUntouched());
}

TEST_F(DevicesAtOnceTest, MemoryOfAnotherDeviceIsRefusedByAnOperator) {
    support::AdvanceStepBatch batch(support::MakeBatch(9, 6, 4, 5, 1));
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    ASSERT_TRUE(IsOk(batch.Plan()));
    EXPECT_TRUE(IsError(ACLNN_ERR_RUNTIME_ERROR, batch.Launch(nullptr), {"107000", "device 1"}));
    EXPECT_TRUE(batch.IsUntouched());
}

}  // namespace
