// SPDX-License-Identifier: Apache-2.0
// Streams made of configurations, and callbacks by their names on other products.
#include <gtest/gtest.h>
#include <pthread.h>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/runtime_test.h"

namespace {

using support::IsCode;
using support::IsError;
using support::IsOk;

class StreamConfigTest : public support::DeviceTest {};

TEST_F(StreamConfigTest, MakesStreamsOfPrioritiesAndFlags) {
    aclrtStreamConfigHandle* const config = aclrtCreateStreamConfigHandle();
    ASSERT_NE(config, nullptr);
    const uint32_t priority = 5;
    const size_t flag = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_PERSISTENT;
    const size_t bytes = 4096;
    void* const work = config;  // any address
    ASSERT_TRUE(
        IsOk(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &priority, sizeof(priority))));
    ASSERT_TRUE(IsOk(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_FLAG, &flag, sizeof(flag))));
    ASSERT_TRUE(
        IsOk(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_WORK_SIZE, &bytes, sizeof(bytes))));
    ASSERT_TRUE(
        IsOk(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_WORK_ADDR_PTR, &work, sizeof(work))));
    EXPECT_EQ(config->priority, priority);
    EXPECT_EQ(config->flag, flag);
    EXPECT_EQ(config->workSize, bytes);
    EXPECT_EQ(config->workptr, work);
    aclrtStream made = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateStreamV2(&made, config)));
    const support::Stream stream(made);
    EXPECT_TRUE(IsOk(aclrtDestroyStreamConfigHandle(config)));
    uint32_t got = 0;
    EXPECT_TRUE(IsOk(aclrtStreamGetPriority(made, &got)));
    EXPECT_EQ(got, priority);
    EXPECT_TRUE(IsOk(aclrtStreamGetFlags(made, &got)));
    EXPECT_EQ(got, flag);
    ASSERT_TRUE(IsOk(aclrtCreateStreamV2(&made, nullptr)));
    const support::Stream plain(made);
    EXPECT_TRUE(IsOk(aclrtStreamGetFlags(made, &got)));
    EXPECT_EQ(got, 0U);
}

TEST_F(StreamConfigTest, Refusals) {
    constexpr int kNull = ACL_ERROR_INVALID_PARAM;
    aclrtStreamConfigHandle config{};
    uint32_t priority = 8;
    const auto set = [&](int attr, const void* value, size_t size) {
        return aclrtSetStreamConfigOpt(&config, static_cast<aclrtStreamConfigAttr>(attr), value,
                                       size);
    };
    EXPECT_TRUE(IsError(kNull, set(ACL_RT_STREAM_PRIORITY, &priority, 4), {"priority 8"}));
    EXPECT_TRUE(IsError(kNull, set(ACL_RT_STREAM_PRIORITY, &priority, 8), {"valueSize", "8"}));
    EXPECT_TRUE(IsError(kNull, set(ACL_RT_STREAM_FLAG, &priority, 4), {"valueSize", "4"}));
    EXPECT_TRUE(IsError(kNull, set(4, &priority, 4), {"attr", "4"}));
    EXPECT_TRUE(IsError(kNull, set(ACL_RT_STREAM_FLAG, nullptr, 8), {"attrValue"}));
    EXPECT_TRUE(IsError(kNull, aclrtSetStreamConfigOpt(nullptr, ACL_RT_STREAM_FLAG, &priority, 8),
                        {"handle"}));
    EXPECT_TRUE(IsError(kNull, aclrtDestroyStreamConfigHandle(nullptr), {"handle"}));
    EXPECT_TRUE(IsError(kNull, aclrtCreateStreamV2(nullptr, &config), {"stream"}));
    aclrtStream made = nullptr;
    config.flag = size_t{1} << 40;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateStreamV2(&made, &config), {"flag"}));
    config.flag = 0x40;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateStreamV2(&made, &config), {"0x40"}));
    config.flag = 0;
    config.priority = 9;  // written by hand
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateStreamV2(&made, &config), {"9"}));
    EXPECT_EQ(made, nullptr);
}

// Expects that no call takes handle.
void ExpectNoConfig(aclrtStreamConfigHandle* handle) {
    constexpr int kInvalid = ACL_ERROR_RT_INVALID_HANDLE;
    const size_t flag = 0;
    aclrtStream made = nullptr;
    EXPECT_TRUE(IsError(kInvalid, aclrtDestroyStreamConfigHandle(handle), {"handle"}));
    EXPECT_TRUE(IsError(kInvalid,
                        aclrtSetStreamConfigOpt(handle, ACL_RT_STREAM_FLAG, &flag, sizeof(flag)),
                        {"handle"}));
    EXPECT_TRUE(IsError(kInvalid, aclrtCreateStreamV2(&made, handle), {"handle"}));
    EXPECT_EQ(made, nullptr);
}

TEST_F(StreamConfigTest, DestroyedOnesAreRefused) {
    aclrtStreamConfigHandle* const first = aclrtCreateStreamConfigHandle();
    aclrtStreamConfigHandle* const second = aclrtCreateStreamConfigHandle();
    ASSERT_NE(first, second);
    EXPECT_TRUE(IsOk(aclrtDestroyStreamConfigHandle(first)));
    ExpectNoConfig(first);
    EXPECT_TRUE(IsOk(aclrtDestroyStreamConfigHandle(second)));
    ExpectNoConfig(second);
    ExpectNoConfig(first);
}

TEST_F(StreamConfigTest, NewOnesHaveTheDefaults) {
    for (int round = 0; round < 2; ++round) {
        aclrtStreamConfigHandle* const config = aclrtCreateStreamConfigHandle();
        ASSERT_NE(config, nullptr);
        EXPECT_EQ(config->priority, 0U);
        const uint32_t priority = 5;
        EXPECT_TRUE(IsOk(
            aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &priority, sizeof(priority))));
        EXPECT_TRUE(IsOk(aclrtDestroyStreamConfigHandle(config)));
    }
}

TEST_F(StreamConfigTest, HandlesOfOtherKindsAreRefused) {
    const support::Stream stream = support::MakeStream();
    const support::Event event = support::MakeEvent();
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtGetCurrentContext(&context)));
    for (void* const handle : {stream.Get(), event.Get(), context}) {
        ExpectNoConfig(static_cast<aclrtStreamConfigHandle*>(handle));
    }
    aclrtStreamConfigHandle own{};
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStreamConfigHandle(&own), {"handle"}));
}

TEST_F(StreamConfigTest, CallbacksByTheOtherNames) {
    const support::Stream stream = support::MakeStream();
    const auto self = static_cast<uint64_t>(pthread_self());
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_THREAD_SUBSCRIBE, aclrtProcessHostFunc(1)));
    ASSERT_TRUE(IsOk(aclrtSubscribeHostFunc(self, stream.Get())));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_STREAM_SUBSCRIBE, aclrtSubscribeHostFunc(self, stream.Get())));
    int ran = 0;
    const aclrtCallback callback = [](void* data) { ++*static_cast<int*>(data); };
    ASSERT_TRUE(IsOk(aclrtLaunchCallback(callback, &ran, ACL_CALLBACK_BLOCK, stream.Get())));
    EXPECT_TRUE(IsOk(aclrtProcessHostFunc(-1)));
    EXPECT_EQ(ran, 1);
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtProcessHostFunc(0), {"timeout"}));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessHostFunc(1)));
    EXPECT_TRUE(IsOk(aclrtUnSubscribeHostFunc(self, stream.Get())));
    EXPECT_TRUE(
        IsCode(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtUnSubscribeHostFunc(self, stream.Get())));
}

}  // namespace
