// SPDX-License-Identifier: Apache-2.0
// The rules that acl_rt.h states once for every call: contexts, null, and handles that are none.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <thread>

#include "acl/acl.h"
#include "conformance/handle_calls.h"
#include "support/handles.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using conformance::CallArguments;
using conformance::CallCase;
using support::IsError;
using support::IsOk;
using testing::ValuesIn;

class CallTest : public support::DeviceTest, public testing::WithParamInterface<CallCase> {
 protected:
    static void ExpectRefused(int code, CallArguments& arguments) {
        EXPECT_TRUE(IsError(code, GetParam().call(arguments), {GetParam().function + ": "}));
        EXPECT_TRUE(arguments.OutputsAreUntouched());
    }
};

// [context] without a current context.
class NoContextTest : public CallTest {};

TEST_P(NoContextTest, IsRefused) {
    CallArguments arguments;
    const support::Stream stream = support::MakeStream();
    arguments.stream = stream.Get();
    std::thread([&arguments] { ExpectRefused(ACL_ERROR_RT_CONTEXT_NULL, arguments); }).join();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

INSTANTIATE_TEST_SUITE_P(Stream, NoContextTest, ValuesIn(conformance::StreamCalls()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(DestroyStream, NoContextTest, ValuesIn(conformance::DestroyStreamCalls()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Context, NoContextTest, ValuesIn(conformance::ContextCalls()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(Memory, NoContextTest, ValuesIn(conformance::MemoryCalls()),
                         support::CaseName());

// A stream of another context than the current one.
class OtherContextTest : public CallTest {};

TEST_P(OtherContextTest, RefusesTheStream) {
    const aclrtContext primary = support::CurrentContext();
    const support::Stream stream = support::MakeStream();
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    CallArguments arguments;
    arguments.stream = stream.Get();
    ExpectRefused(ACL_ERROR_RT_STREAM_CONTEXT, arguments);
    ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get()))) << "nothing happened to the stream";
}

INSTANTIATE_TEST_SUITE_P(Stream, OtherContextTest, ValuesIn(conformance::StreamCalls()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(DestroyStream, OtherContextTest,
                         ValuesIn(conformance::DestroyStreamCalls()), support::CaseName());

// NULL as a stream: the default stream, except for destroying it.
class NullStreamTest : public CallTest {};

TEST_P(NullStreamTest, IsTheDefaultStream) {
    CallArguments arguments;
    EXPECT_TRUE(IsOk(GetParam().call(arguments)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
}

INSTANTIATE_TEST_SUITE_P(Stream, NullStreamTest, ValuesIn(conformance::StreamCalls()),
                         support::CaseName());

class NullRefusedTest : public CallTest {};

TEST_P(NullRefusedTest, IsRefused) {
    CallArguments arguments;
    ExpectRefused(ACL_ERROR_INVALID_PARAM, arguments);
}

INSTANTIATE_TEST_SUITE_P(DestroyStream, NullRefusedTest,
                         ValuesIn(conformance::DestroyStreamCalls()), support::CaseName());
INSTANTIATE_TEST_SUITE_P(Event, NullRefusedTest, ValuesIn(conformance::EventCalls()),
                         support::CaseName());

// Values that are no live handle of the kind that a call takes.
class NoHandleTest : public CallTest {
 protected:
    void* Destroyed(bool stream) {
        void* handle = nullptr;
        if (stream) {
            EXPECT_TRUE(IsOk(aclrtCreateStream(&handle)));
            EXPECT_TRUE(IsOk(aclrtDestroyStream(handle)));
        } else {
            EXPECT_TRUE(IsOk(aclrtCreateEvent(&handle)));
            EXPECT_TRUE(IsOk(aclrtDestroyEvent(handle)));
        }
        return handle;
    }

    // Gives every bad value to set, which puts it into the arguments, and makes the call.
    void ExpectEveryOneRefused(bool stream, void* CallArguments::*argument) {
        CallArguments arguments;
        const support::Stream liveStream = support::MakeStream();
        const support::Event liveEvent = support::MakeEvent();
        int local = 0;
        const std::vector<int64_t> heap(64, -1);
        const auto number = [](uintptr_t value) { return reinterpret_cast<void*>(value); };
        void* const live = stream ? liveStream.Get() : liveEvent.Get();
        for (void* const bad :
             {Destroyed(stream), stream ? liveEvent.Get() : liveStream.Get(),
              static_cast<void*>(support::CurrentContext()), static_cast<void*>(&local),
              const_cast<void*>(static_cast<const void*>(heap.data())), arguments.device.Get(),
              static_cast<void*>(arguments.pinned.Get()), number(1), number(8), number(4096),
              number(UINTPTR_MAX), number(UINTPTR_MAX / 2), number(UINTPTR_MAX / 2 + 1),
              number(reinterpret_cast<uintptr_t>(live) ^ (uintptr_t{1} << 63))}) {
            SCOPED_TRACE(testing::Message() << "handle " << bad);
            arguments.*argument = bad;
            ExpectRefused(ACL_ERROR_RT_INVALID_HANDLE, arguments);
        }
        EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
    }
};

class NoStreamTest : public NoHandleTest {};

TEST_P(NoStreamTest, IsRefused) { ExpectEveryOneRefused(true, &CallArguments::stream); }

INSTANTIATE_TEST_SUITE_P(Stream, NoStreamTest, ValuesIn(conformance::StreamCalls()),
                         support::CaseName());
INSTANTIATE_TEST_SUITE_P(DestroyStream, NoStreamTest, ValuesIn(conformance::DestroyStreamCalls()),
                         support::CaseName());

class NoEventTest : public NoHandleTest {};

TEST_P(NoEventTest, IsRefused) { ExpectEveryOneRefused(false, &CallArguments::event); }

INSTANTIATE_TEST_SUITE_P(Event, NoEventTest, ValuesIn(conformance::EventCalls()),
                         support::CaseName());

// A handle's place may be used again; the old handle must not become valid by that.
class OldHandleTest : public support::DeviceTest {};

TEST_F(OldHandleTest, StaysInvalid) {
    const aclrtStream oldStream = support::MakeStream().Release();
    const aclrtEvent oldEvent = support::MakeEvent().Release();
    ASSERT_TRUE(IsOk(aclrtDestroyStream(oldStream)));
    ASSERT_TRUE(IsOk(aclrtDestroyEvent(oldEvent)));
    std::vector<support::Stream> streams;
    std::vector<support::Event> events;
    for (int i = 0; i < 100; ++i) {
        streams.push_back(support::MakeStream());
        events.push_back(support::MakeEvent());
        ASSERT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(oldStream)));
        ASSERT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordEvent(oldEvent, nullptr)));
    }
}

// Outputs and functions that must not be null.
class NullArgumentTest : public support::DeviceTest {};

TEST_F(NullArgumentTest, IsRefused) {
    const support::Stream stream = support::MakeStream();
    const support::Event event = support::MakeEvent();
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtCreateStream(nullptr), {"stream"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtCreateStreamWithConfig(nullptr, 0, 0), {"stream"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtStreamQuery(stream.Get(), nullptr), {"status"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtLaunchHostFunc(stream.Get(), nullptr, nullptr), {"fn"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtCreateEvent(nullptr), {"event"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclrtCreateEventWithFlag(nullptr, ACL_EVENT_SYNC),
                        {"event"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtCreateEventExWithFlag(nullptr, ACL_EVENT_SYNC), {"event"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtQueryEventStatus(event.Get(), nullptr), {"status"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, aclrtQueryEvent(event.Get(), nullptr), {"status"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtEventElapsedTime(nullptr, event.Get(), event.Get()), {"ms"}));
}

TEST_F(NullArgumentTest, IsRefusedWhereStreamsAndEventsAreDescribed) {
    const support::Stream stream = support::MakeStream();
    const support::Event event = support::MakeEvent();
    const auto isRefused = [](int status, const char* argument) {
        return IsError(ACL_ERROR_INVALID_PARAM, status, {argument, "null"});
    };
    int32_t number = -7;
    EXPECT_TRUE(isRefused(aclrtStreamGetId(stream.Get(), nullptr), "streamId"));
    EXPECT_TRUE(isRefused(aclrtStreamGetPriority(stream.Get(), nullptr), "priority"));
    EXPECT_TRUE(isRefused(aclrtStreamGetFlags(stream.Get(), nullptr), "flags"));
    EXPECT_TRUE(isRefused(aclrtDeviceGetStreamPriorityRange(nullptr, &number), "leastPriority"));
    EXPECT_TRUE(isRefused(aclrtDeviceGetStreamPriorityRange(&number, nullptr), "greatestPriority"));
    EXPECT_EQ(number, -7);
    EXPECT_TRUE(isRefused(aclrtSetStreamAttribute(stream.Get(), ACL_STREAM_ATTR_PRIORITY, nullptr),
                          "value"));
    EXPECT_TRUE(isRefused(aclrtGetStreamAttribute(stream.Get(), ACL_STREAM_ATTR_PRIORITY, nullptr),
                          "value"));
    EXPECT_TRUE(isRefused(aclrtGetStreamAvailableNum(nullptr), "streamCount"));
    EXPECT_TRUE(isRefused(aclrtCtxGetCurrentDefaultStream(nullptr), "stream"));
    EXPECT_TRUE(isRefused(aclrtEventGetTimestamp(event.Get(), nullptr), "timestamp"));
    EXPECT_TRUE(isRefused(aclrtQueryEventWaitStatus(event.Get(), nullptr), "status"));
    EXPECT_TRUE(isRefused(aclrtGetEventId(event.Get(), nullptr), "eventId"));
}

// Calls that are not marked [context] work in a thread that has none.
class NeedsNoContextTest : public support::DeviceTest {};

TEST_F(NeedsNoContextTest, WorksWithoutOne) {
    CallArguments arguments;
    void* const device = support::DeviceBuffer(64).Release();
    char* const pinned = support::PinnedArray<char>(64).Release();
    support::Event event = support::MakeEvent();
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), nullptr)));
    std::thread([&] {
        EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
        EXPECT_TRUE(IsOk(aclrtQueryEventStatus(event.Get(), &arguments.recordedStatus)));
        EXPECT_TRUE(IsOk(aclrtQueryEvent(event.Get(), &arguments.eventStatus)));
        EXPECT_TRUE(
            IsOk(aclrtEventElapsedTime(&arguments.ms, arguments.recorded.Get(), event.Get())));
        EXPECT_TRUE(IsOk(aclrtDestroyEvent(event.Release())));
        EXPECT_TRUE(IsOk(aclrtFree(device)));
        EXPECT_TRUE(IsOk(aclrtFreeHost(pinned)));
    }).join();
}

}  // namespace
