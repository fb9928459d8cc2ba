// SPDX-License-Identifier: Apache-2.0
// aclrtFreeWithDevSync: waits for the device, then frees.
#include <gtest/gtest.h>

#include <thread>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using namespace support;

class FreeSyncTest : public support::DeviceTest {
 protected:
    static size_t FreeBytes() {
        size_t free = 0, total = 0;
        EXPECT_TRUE(IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total)));
        return free;
    }
};

TEST_F(FreeSyncTest, TakesLiveAllocationsOnly) {
    int local = 0;
    DeviceBuffer device(256);
    const support::PinnedArray<char> pinned(64);
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtFreeWithDevSync(nullptr),
                        {"aclrtFreeWithDevSync: ", "devPtr"}));
    for (void* const wrong : {static_cast<void*>(&local), static_cast<void*>(device.At(64)),
                              static_cast<void*>(pinned.Get())}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeWithDevSync(wrong),
                            {"aclrtFreeWithDevSync: ", "devPtr"}));
    }
    void* const memory = device.Release();
    EXPECT_TRUE(IsOk(aclrtFreeWithDevSync(memory)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtFreeWithDevSync(memory)));
}

TEST_F(FreeSyncTest, WaitsForEveryStreamOfTheDevice) {
    const size_t before = FreeBytes();
    DeviceBuffer device(size_t{1} << 20);
    const Stream stream = support::MakeStream();
    const support::Recorder recorder;
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    const support::Signal begun;
    std::thread opener([&] {
        EXPECT_TRUE(begun.Wait());
        gate.Open();
    });
    begun.Set();
    EXPECT_TRUE(IsOk(aclrtFreeWithDevSync(device.Release())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
    EXPECT_EQ(FreeBytes(), before) << "freed at once";
    opener.join();
}

TEST_F(FreeSyncTest, LeavesFailuresToTheSynchronisation) {
    DeviceBuffer device(64);
    ASSERT_TRUE(IsOk(support::EnqueueFailure(nullptr)));
    EXPECT_TRUE(IsOk(aclrtFreeWithDevSync(device.Release())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(nullptr)));
}

TEST_F(FreeSyncTest, IsRefusedInsideAHostFunction) {
    DeviceBuffer device(64);
    aclError status = ACL_SUCCESS;
    ASSERT_TRUE(
        IsOk(support::Enqueue(nullptr, [&] { status = aclrtFreeWithDevSync(device.Get()); })));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(status, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_TRUE(IsOk(aclrtFree(device.Release()))) << "it was not freed";
}

}  // namespace
