// SPDX-License-Identifier: Apache-2.0
// Streams: identities and attributes.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "acl/acl.h"
#include "conformance/handle_calls.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using namespace support;

class StreamIdentityTest : public support::DeviceTest {
 protected:
    static int32_t IdOf(aclrtStream stream) {
        int32_t id = -7;
        EXPECT_TRUE(IsOk(aclrtStreamGetId(stream, &id)));
        return id;
    }
    static uint32_t PriorityOf(aclrtStream stream) {
        uint32_t priority = 7777;
        EXPECT_TRUE(IsOk(aclrtStreamGetPriority(stream, &priority)));
        return priority;
    }
    static uint32_t FlagsOf(aclrtStream stream) {
        uint32_t flags = 7777;
        EXPECT_TRUE(IsOk(aclrtStreamGetFlags(stream, &flags)));
        return flags;
    }
    static uint32_t Available() {
        uint32_t count = 0;
        EXPECT_TRUE(IsOk(aclrtGetStreamAvailableNum(&count)));
        return count;
    }
    static aclrtStream DefaultStream() {
        aclrtStream stream = nullptr;
        EXPECT_TRUE(IsOk(aclrtCtxGetCurrentDefaultStream(&stream)));
        EXPECT_NE(stream, nullptr);
        return stream;
    }
};

TEST_F(StreamIdentityTest, NoTwoStreamsHaveOneId) {
    std::set<int32_t> ids = {IdOf(nullptr)};
    for (int i = 0; i < 20; ++i) {
        const Stream stream = MakeStream();
        const int32_t id = IdOf(stream.Get());
        EXPECT_GE(id, 0);
        EXPECT_EQ(IdOf(stream.Get()), id);
        EXPECT_TRUE(ids.insert(id).second) << "also not one that has been destroyed";
    }
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    EXPECT_TRUE(ids.insert(IdOf(nullptr)).second);
}

TEST_F(StreamIdentityTest, PriorityAndFlagsAreThoseOfTheCreation) {
    const Stream plain = MakeStream();
    EXPECT_EQ(PriorityOf(plain.Get()), 0U);
    EXPECT_EQ(FlagsOf(plain.Get()), 0U);
    EXPECT_EQ(PriorityOf(nullptr), 0U);
    EXPECT_EQ(FlagsOf(nullptr), 0U);
    aclrtStream made = nullptr;
    const uint32_t flags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_HUGE;
    ASSERT_TRUE(IsOk(aclrtCreateStreamWithConfig(&made, 6, flags)));
    const Stream stream(made);
    EXPECT_EQ(PriorityOf(made), 6U);
    EXPECT_EQ(FlagsOf(made), flags);
}

TEST_F(StreamIdentityTest, PriorityRangeIsWhatCreationTakes) {
    int32_t least = -7, greatest = -7;
    ASSERT_TRUE(IsOk(aclrtDeviceGetStreamPriorityRange(&least, &greatest)));
    EXPECT_EQ(least, 7);
    EXPECT_EQ(greatest, 0);
    for (const int32_t priority : {least, greatest}) {
        aclrtStream stream = nullptr;
        EXPECT_TRUE(IsOk(aclrtCreateStreamWithConfig(&stream, static_cast<uint32_t>(priority), 0)));
        EXPECT_TRUE(IsOk(aclrtDestroyStream(stream)));
    }
    aclrtStream none = nullptr;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        aclrtCreateStreamWithConfig(&none, static_cast<uint32_t>(least + 1), 0)));
}

TEST_F(StreamIdentityTest, AvailableStreamsAreCounted) {
    const uint32_t before = Available();
    EXPECT_GT(before, 1000U);
    {
        const Stream a = MakeStream();
        const Stream b = MakeStream();
        EXPECT_EQ(Available(), before - 2);
    }
    EXPECT_EQ(Available(), before);
}

TEST_F(StreamIdentityTest, TheDefaultStreamIsTheContexts) {
    const aclrtStream first = DefaultStream();
    EXPECT_EQ(IdOf(first), IdOf(nullptr));
    const support::HostGate gate(first);
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    ASSERT_TRUE(IsOk(aclrtStreamQuery(nullptr, &status)));
    EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY) << "it is the stream that NULL stands for";
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(first)));
    const aclrtContext primary = support::CurrentContext();
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    const aclrtStream second = DefaultStream();
    EXPECT_NE(first, second);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_CONTEXT, aclrtSynchronizeStream(first)));
    ASSERT_TRUE(IsOk(aclrtDestroyContext(context)));
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(second)));
}

TEST_F(StreamIdentityTest, TheDefaultStreamCannotBeDestroyed) {
    const aclrtStream stream = DefaultStream();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtDestroyStream(stream), {"default"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtDestroyStreamForce(stream), {"default"}));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream)));
}

// Every call that takes NULL for the default stream.
class DefaultStreamTest : public support::DeviceTest,
                          public testing::WithParamInterface<conformance::CallCase> {};

TEST_P(DefaultStreamTest, IsTakenByItsHandle) {
    conformance::CallArguments arguments;
    ASSERT_TRUE(IsOk(aclrtUseStreamResInCurrentThread(nullptr)));
    ASSERT_TRUE(IsOk(aclrtCtxGetCurrentDefaultStream(&arguments.stream)));
    EXPECT_TRUE(IsOk(GetParam().call(arguments)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(arguments.stream)));
}

INSTANTIATE_TEST_SUITE_P(Stream, DefaultStreamTest, testing::ValuesIn(conformance::StreamCalls()),
                         support::CaseName());

struct AttributeCase {
    std::string name;
    aclrtStreamAttr type;
    uint32_t aclrtStreamAttrValue::*member;
    uint32_t most;
};

class StreamAttributeTest : public support::DeviceTest,
                            public testing::WithParamInterface<AttributeCase> {
 protected:
    static uint32_t Get(aclrtStream stream) {
        aclrtStreamAttrValue value;
        std::memset(&value, 0x55, sizeof(value));
        EXPECT_TRUE(IsOk(aclrtGetStreamAttribute(stream, GetParam().type, &value)));
        EXPECT_EQ(value.reserve[1], 0U);
        EXPECT_EQ(value.reserve[3], 0U);
        return value.*GetParam().member;
    }
    static int Set(aclrtStream stream, uint32_t number) {
        aclrtStreamAttrValue value;
        std::memset(&value, 0x55, sizeof(value));
        value.*GetParam().member = number;
        return aclrtSetStreamAttribute(stream, GetParam().type, &value);
    }
};

TEST_P(StreamAttributeTest, IsKeptForItsStream) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    EXPECT_EQ(Get(stream.Get()), 0U);
    for (const uint32_t number : {GetParam().most, 0U, 1U}) {
        ASSERT_TRUE(IsOk(Set(stream.Get(), number)));
        EXPECT_EQ(Get(stream.Get()), number);
        EXPECT_EQ(Get(other.Get()), 0U);
    }
}

TEST_P(StreamAttributeTest, EndsWithItsStream) {
    for (int i = 0; i < 50; ++i) {
        const Stream stream = MakeStream();
        ASSERT_EQ(Get(stream.Get()), 0U);
        ASSERT_TRUE(IsOk(Set(stream.Get(), 1)));
    }
}

TEST_P(StreamAttributeTest, RefusesWhatIsOutOfRange) {
    if (GetParam().most == UINT32_MAX) {
        return;  // any value is taken
    }
    for (const uint32_t number : {GetParam().most + 1, UINT32_MAX}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, Set(nullptr, number),
                            {"aclrtSetStreamAttribute: "}, {number, GetParam().most}));
    }
    EXPECT_EQ(Get(nullptr), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Table, StreamAttributeTest,
    testing::Values(AttributeCase{"OverflowCheck", ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK,
                                  &aclrtStreamAttrValue::overflowSwitch, 1},
                    AttributeCase{"UserTag", ACL_STREAM_ATTR_USER_CUSTOM_TAG,
                                  &aclrtStreamAttrValue::userCustomTag, UINT32_MAX},
                    AttributeCase{"CacheOpInfo", ACL_STREAM_ATTR_CACHE_OP_INFO,
                                  &aclrtStreamAttrValue::cacheOpInfoSwitch, 1},
                    AttributeCase{"Priority", ACL_STREAM_ATTR_PRIORITY,
                                  &aclrtStreamAttrValue::streamPriority, 7}),
    support::CaseName());

class AttributeTest : public support::DeviceTest {
 protected:
    static uint64_t Mode(aclrtStream stream) {
        aclrtStreamAttrValue value;
        std::memset(&value, 0x55, sizeof(value));
        EXPECT_TRUE(IsOk(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value)));
        return value.failureMode;
    }
    static int SetMode(aclrtStream stream, uint64_t mode) {
        aclrtStreamAttrValue value = {};
        value.failureMode = mode;
        return aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value);
    }
};

TEST_F(AttributeTest, FailureModeIsThatOfTheContext) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    EXPECT_EQ(Mode(stream.Get()), ACL_CONTINUE_ON_FAILURE);
    ASSERT_TRUE(IsOk(SetMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    EXPECT_EQ(Mode(other.Get()), ACL_STOP_ON_FAILURE);
    ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(other.Get(), ACL_CONTINUE_ON_FAILURE)));
    EXPECT_EQ(Mode(stream.Get()), ACL_CONTINUE_ON_FAILURE);
}

TEST_F(AttributeTest, FailureModeTakesEffect) {
    const Stream stream = MakeStream();
    const support::Recorder recorder;
    ASSERT_TRUE(IsOk(SetMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    {
        const support::HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(support::EnqueueFailure(stream.Get())));
        ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(recorder.Values().empty());
}

TEST_F(AttributeTest, FailureModeIsSetOncePerStream) {
    const Stream stream = MakeStream();
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, SetMode(stream.Get(), 2),
                        {"aclrtSetStreamAttribute: ", "failureMode", "2"}));
    ASSERT_TRUE(IsOk(SetMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, SetMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        aclrtSetStreamFailureMode(stream.Get(), ACL_CONTINUE_ON_FAILURE)));
    EXPECT_EQ(Mode(stream.Get()), ACL_STOP_ON_FAILURE);
}

TEST_F(AttributeTest, PriorityIsTheStreams) {
    aclrtStream made = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateStreamWithConfig(&made, 3, 0)));
    const Stream stream(made);
    aclrtStreamAttrValue value = {};
    ASSERT_TRUE(IsOk(aclrtGetStreamAttribute(made, ACL_STREAM_ATTR_PRIORITY, &value)));
    EXPECT_EQ(value.streamPriority, 3U);
    value.streamPriority = 5;
    ASSERT_TRUE(IsOk(aclrtSetStreamAttribute(made, ACL_STREAM_ATTR_PRIORITY, &value)));
    uint32_t priority = 0;
    ASSERT_TRUE(IsOk(aclrtStreamGetPriority(made, &priority)));
    EXPECT_EQ(priority, 5U);
}

TEST_F(AttributeTest, UnknownOnesAreRefused) {
    for (const int number : {-1, 0, 6, 99}) {
        const auto type = static_cast<aclrtStreamAttr>(number);
        aclrtStreamAttrValue value = {};
        value.userCustomTag = 7777;
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtSetStreamAttribute(nullptr, type, &value),
                            {"aclrtSetStreamAttribute: ", "stmAttrType"}, {number}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtGetStreamAttribute(nullptr, type, &value),
                            {"aclrtGetStreamAttribute: ", "stmAttrType"}, {number}));
        EXPECT_EQ(value.userCustomTag, 7777U);
    }
}

}  // namespace
