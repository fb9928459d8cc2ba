// SPDX-License-Identifier: Apache-2.0
// Contexts: acl_rt.h, section contexts.
#include <gtest/gtest.h>

#include <thread>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using support::CurrentContext;
using support::IsError;
using support::IsOk;

class ContextTest : public support::DeviceTest {
 protected:
    static aclrtContext Create(int32_t device) {
        aclrtContext context = nullptr;
        EXPECT_TRUE(IsOk(aclrtCreateContext(&context, device)));
        return context;
    }
};

TEST_F(ContextTest, CreateMakesItCurrent) {
    const aclrtContext primary = CurrentContext();
    const aclrtContext context = Create(1);
    EXPECT_NE(context, primary);
    EXPECT_EQ(CurrentContext(), context);
    int32_t device = -1;
    ASSERT_TRUE(IsOk(aclrtGetDevice(&device)));
    EXPECT_EQ(device, 1);
}

TEST_F(ContextTest, CreateNeedsNoDeviceSet) {
    std::thread([] {
        const support::Context context(Create(1));
        const support::Stream stream = support::MakeStream();
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    }).join();
}

TEST_F(ContextTest, CreateRefusesUnknownDevices) {
    const aclrtContext before = CurrentContext();
    for (const int32_t device : {-1, 2}) {
        aclrtContext context = before;
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtCreateContext(&context, device),
                            {"aclrtCreateContext: ", "deviceId"}));
        EXPECT_EQ(context, before);
    }
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtCreateContext(nullptr, 0), {"aclrtCreateContext: "}));
    EXPECT_EQ(CurrentContext(), before);
}

TEST_F(ContextTest, DestroyTakesOwnContextsOnly) {
    int local = 0;
    const support::Stream stream = support::MakeStream();
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtDestroyContext(nullptr), {"context"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyContext(CurrentContext()),
                        {"aclrtDestroyContext: "}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyContext(&local)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyContext(stream.Get())));
    const aclrtContext context = Create(0);
    EXPECT_TRUE(IsOk(aclrtDestroyContext(context)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyContext(context)));
}

TEST_F(ContextTest, DestroyingTheCurrentOneLeavesNone) {
    ASSERT_TRUE(IsOk(aclrtDestroyContext(Create(0))));
    aclrtContext context = nullptr;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&context)));
    aclrtStream stream = nullptr;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStream(&stream)));
    EXPECT_TRUE(IsOk(aclrtSetDevice(0)));
}

TEST_F(ContextTest, DestroyWaitsForItsStreamsAndTakesThem) {
    const aclrtContext primary = CurrentContext();
    const aclrtContext context = Create(0);
    const aclrtStream stream = support::MakeStream().Release();
    const support::Recorder recorder;
    const support::HostGate gate(stream);
    for (int i = 0; i < 20; ++i) {
        ASSERT_TRUE(IsOk(recorder.Mark(stream, i)));
        ASSERT_TRUE(IsOk(recorder.Mark(nullptr, i)));
    }
    std::thread opener([&gate] {
        EXPECT_TRUE(gate.WaitEntered());
        gate.Open();
    });
    EXPECT_TRUE(IsOk(aclrtDestroyContext(context)));
    opener.join();
    EXPECT_EQ(recorder.Values().size(), 40U);
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(stream)));
}

TEST_F(ContextTest, SetTakesLiveContextsOnly) {
    const aclrtContext primary = CurrentContext();
    const support::Stream stream = support::MakeStream();
    const aclrtContext context = Create(0);
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
    EXPECT_EQ(CurrentContext(), primary);
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
    EXPECT_EQ(CurrentContext(), context);
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtSetCurrentContext(nullptr),
                        {"aclrtSetCurrentContext: ", "context"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(stream.Get())));
    int local = 0;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(&local)));
    EXPECT_EQ(CurrentContext(), context);
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
    ASSERT_TRUE(IsOk(aclrtDestroyContext(context)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtSetCurrentContext(context)));
    EXPECT_EQ(CurrentContext(), primary);
}

TEST_F(ContextTest, GetNeedsAnOutput) {
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtGetCurrentContext(nullptr), {"context"}));
}

TEST_F(ContextTest, CurrentContextBelongsToTheThread) {
    const aclrtContext primary = CurrentContext();
    std::thread([primary] {
        ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
        const support::Context other(Create(1));
        EXPECT_NE(CurrentContext(), primary);
    }).join();
    EXPECT_EQ(CurrentContext(), primary);
}

TEST_F(ContextTest, EachHasADefaultStreamOfItsOwn) {
    const aclrtContext primary = CurrentContext();
    const support::HostGate gate(nullptr);
    ASSERT_TRUE(gate.WaitEntered());
    const support::Context context(Create(0));
    const support::Recorder recorder;
    ASSERT_TRUE(IsOk(recorder.Mark(nullptr, 1)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
    aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
    ASSERT_TRUE(IsOk(aclrtStreamQuery(nullptr, &status)));
    EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY);
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
}

TEST_F(ContextTest, MemoryIsOfTheDevice) {
    const support::DeviceBuffer memory(std::vector<int>{1, 2, 3});
    const support::Context context(Create(0));
    EXPECT_EQ(memory.Download<int>(), (std::vector<int>{1, 2, 3}));
}

}  // namespace
