// SPDX-License-Identifier: Apache-2.0
// What freed memory waits for: work of its own device, and work of others that touches it.
#include <gtest/gtest.h>

#include "acl/acl.h"
#include "advance_step/fault_injection.h"
#include "support/handles.h"
#include "support/runtime_test.h"

namespace {

using support::DeviceBuffer;
using support::IsOk;
using support::Stream;

constexpr size_t kTotal = size_t{64} << 20;
constexpr size_t kBlock = size_t{16} << 20;

// Two devices of 64 MiB, and a stream of device 1 with a task that lasts until it is released.
class FreePendingTest : public support::DeviceTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(
            Restart({{"ADVANCE_STEP_DEVICES", "2"}, {"ADVANCE_STEP_MEMORY", "64M"}}));
        ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
        held_ = support::MakeStream();
        ASSERT_TRUE(IsOk(advstepHoldStream(held_.Get(), &hold_)));
    }
    void TearDown() override {
        if (hold_ != 0) {
            Release();  // a test that failed has left it
        }
        ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
        held_ = Stream();
    }
    void Release() {
        EXPECT_TRUE(IsOk(advstepReleaseHold(hold_)));
        hold_ = 0;
    }
    static size_t FreeBytes() {
        size_t free = 0, total = 0;
        EXPECT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total)));
        return free;
    }

    Stream held_;
    uint64_t hold_ = 0;
};

TEST_F(FreePendingTest, AStreamOfAnotherDeviceHoldsNothingUp) {
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    for (int round = 0; round < 100; ++round) {  // 25 times what the device has
        const DeviceBuffer device(kBlock);
        EXPECT_EQ(FreeBytes(), kTotal - kBlock);
    }
    EXPECT_EQ(FreeBytes(), kTotal);
}

TEST_F(FreePendingTest, AStreamOfItsOwnDeviceDoes) {
    DeviceBuffer device(kBlock);
    EXPECT_TRUE(IsOk(aclrtFree(device.Release())));
    EXPECT_EQ(FreeBytes(), kTotal - kBlock);
    Release();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(held_.Get())));
    EXPECT_EQ(FreeBytes(), kTotal);
}

TEST_F(FreePendingTest, WorkOfAnotherDeviceThatTouchesItDoes) {
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    DeviceBuffer source(kBlock), filled(kBlock);
    EXPECT_TRUE(IsOk(aclrtMemset(source.Get(), kBlock, 0x5A, kBlock)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    const DeviceBuffer target(kBlock);
    ASSERT_TRUE(IsOk(aclrtMemcpyAsync(target.Get(), kBlock, source.Get(), kBlock,
                                      ACL_MEMCPY_DEVICE_TO_DEVICE, held_.Get())));
    ASSERT_TRUE(IsOk(aclrtMemsetAsync(filled.Get(), kBlock, 1, kBlock, held_.Get())));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(IsOk(aclrtFree(source.Release())));
    EXPECT_TRUE(IsOk(aclrtFree(filled.Release())));
    EXPECT_EQ(FreeBytes(), kTotal - 2 * kBlock) << "the queued copy and fill still need them";
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    Release();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(held_.Get())));
    EXPECT_EQ(*target.At(kBlock - 1), 0x5A);
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_EQ(FreeBytes(), kTotal);
}

TEST_F(FreePendingTest, PinnedMemoryWaitsForEveryDevice) {
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    const DeviceBuffer device(8);
    void* pinned = nullptr;
    ASSERT_TRUE(IsOk(aclrtMallocHost(&pinned, 8)));
    *static_cast<uint64_t*>(pinned) = 77;
    ASSERT_TRUE(
        IsOk(aclrtMemcpyAsync(device.Get(), 8, pinned, 8, ACL_MEMCPY_HOST_TO_DEVICE, held_.Get())));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    EXPECT_TRUE(IsOk(aclrtFreeHost(pinned)));
    const support::PinnedArray<uint64_t> next(1);  // not the same memory yet
    *next.Get() = 78;
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    Release();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(held_.Get())));
    EXPECT_EQ(*reinterpret_cast<uint64_t*>(device.Get()), 77U);
}

}  // namespace
