// SPDX-License-Identifier: Apache-2.0
// Callbacks that are called when streams are created and destroyed, and what they may do.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "conformance/stream_states.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/stderr_capture.h"

namespace {

using conformance::kCreated;
using conformance::kDestroyed;
using conformance::StateListener;
using conformance::StreamStateTest;
using conformance::ToldState;
using namespace support;

TEST_F(StreamStateTest, TellsOfCreationAndDestruction) {
    ASSERT_TRUE(IsOk(listener_.Register("a")));
    aclrtStream plain = nullptr, configured = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateStream(&plain)));
    ASSERT_EQ(listener_.Size(), 1U);
    EXPECT_EQ(listener_.Count(plain, kCreated), 1U);
    ASSERT_TRUE(IsOk(aclrtCreateStreamWithConfig(&configured, 2, 0)));
    EXPECT_EQ(listener_.Count(configured, kCreated), 1U);
    ASSERT_TRUE(IsOk(aclrtDestroyStream(plain)));
    EXPECT_EQ(listener_.Count(plain, kDestroyed), 1U);
    ASSERT_TRUE(IsOk(aclrtDestroyStreamForce(configured)));
    EXPECT_EQ(listener_.Count(configured, kDestroyed), 1U);
    EXPECT_EQ(listener_.Size(), 4U);
    for (const ToldState& told : listener_.told) {
        EXPECT_EQ(told.thread, std::this_thread::get_id());
    }
}

TEST_F(StreamStateTest, DefaultStreamsAreNotToldOf) {
    ASSERT_TRUE(IsOk(listener_.Register("a")));
    ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    ASSERT_TRUE(IsOk(aclrtDestroyContext(context)));
    ASSERT_TRUE(IsOk(aclrtResetDevice(1)));
    EXPECT_EQ(listener_.Size(), 0U);
}

TEST_F(StreamStateTest, TellsOfStreamsThatGoWithTheirContext) {
    const Stream elsewhere = MakeStream();
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    const aclrtStream a = MakeStream().Release();
    const aclrtStream b = MakeStream().Release();
    ASSERT_TRUE(IsOk(listener_.Register("a")));
    ASSERT_TRUE(IsOk(aclrtDestroyContext(context)));
    EXPECT_EQ(listener_.Count(a, kDestroyed), 1U);
    EXPECT_EQ(listener_.Count(b, kDestroyed), 1U);
    EXPECT_EQ(listener_.Size(), 2U);
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
}

TEST_F(StreamStateTest, TellsOfStreamsThatGoWithTheirDevice) {
    for (const auto reset : {&aclrtResetDevice, &aclrtResetDeviceForce}) {
        ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
        const Stream other = MakeStream();
        ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
        const aclrtStream stream = MakeStream().Release();
        StateListener listener;
        ASSERT_TRUE(IsOk(listener.Register("a")));
        ASSERT_TRUE(IsOk(aclrtSetDevice(1)));
        if (reset == &aclrtResetDevice) {
            ASSERT_TRUE(IsOk(reset(1)));
            EXPECT_EQ(listener.Size(), 0U) << "one use is left";
        }
        ASSERT_TRUE(IsOk(reset(1)));
        EXPECT_EQ(listener.Count(stream, kDestroyed), 1U);
        EXPECT_EQ(listener.Size(), 1U);
        ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
        ASSERT_TRUE(IsOk(aclrtRegStreamStateCallback("a", nullptr, nullptr)));
    }
}

TEST_F(StreamStateTest, TellsOfStreamsThatGoWithTheRuntimeAndForgets) {
    const aclrtStream stream = MakeStream().Release();
    ASSERT_TRUE(IsOk(listener_.Register("a")));
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_EQ(listener_.Count(stream, kDestroyed), 1U);
    EXPECT_EQ(listener_.Size(), 1U);
    const Stream later = MakeStream();
    EXPECT_EQ(listener_.Size(), 1U);
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtRegStreamStateCallback("a", nullptr, nullptr)));
}

// A reference that is not the last leaves the streams, and the last takes them.
TEST_F(StreamStateTest, TellsOfStreamsThatGoWithTheLastReference) {
    ASSERT_TRUE(IsCode(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr)));
    const aclrtStream stream = MakeStream().Release();
    ASSERT_TRUE(IsOk(listener_.Register("a")));
    uint64_t left = 7;
    ASSERT_TRUE(IsOk(aclFinalizeReference(&left)));
    EXPECT_EQ(left, 1U);
    EXPECT_EQ(listener_.Size(), 0U);
    ASSERT_TRUE(IsOk(aclFinalizeReference(&left)));
    EXPECT_EQ(left, 0U);
    EXPECT_EQ(listener_.Count(stream, kDestroyed), 1U);
    EXPECT_EQ(listener_.Size(), 1U);
}

TEST_F(StreamStateTest, NamesTellCallbacksApart) {
    StateListener second;
    std::vector<int> order;
    listener_.also = [&](aclrtStream, aclrtStreamState) { order.push_back(1); };
    second.also = [&](aclrtStream, aclrtStreamState) { order.push_back(2); };
    ASSERT_TRUE(IsOk(listener_.Register("z")));
    ASSERT_TRUE(IsOk(second.Register("a")));
    const aclrtStream stream = MakeStream().Release();
    EXPECT_EQ(order, (std::vector<int>{1, 2})) << "in the order of registration";
    ASSERT_TRUE(IsOk(aclrtRegStreamStateCallback("z", nullptr, nullptr)));
    ASSERT_TRUE(IsOk(aclrtDestroyStream(stream)));
    EXPECT_EQ(listener_.Size(), 1U);
    EXPECT_EQ(second.Count(stream, kDestroyed), 1U);
    StateListener third;
    ASSERT_TRUE(IsOk(third.Register("a")));
    const Stream next = MakeStream();
    EXPECT_EQ(second.Size(), 2U) << "its name has another callback now";
    EXPECT_EQ(third.Count(next.Get(), kCreated), 1U);
    ASSERT_TRUE(IsOk(aclrtRegStreamStateCallback("a", nullptr, nullptr)));
}

TEST_F(StreamStateTest, RefusesNullNamesAndUnknownOnes) {
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, listener_.Register(nullptr),
                        {"aclrtRegStreamStateCallback: ", "regName"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                        aclrtRegStreamStateCallback("nobody", nullptr, nullptr),
                        {"aclrtRegStreamStateCallback: ", "nobody"}));
    ASSERT_TRUE(IsOk(listener_.Register("a")));
    ASSERT_TRUE(IsOk(aclrtRegStreamStateCallback("a", nullptr, nullptr)));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtRegStreamStateCallback("a", nullptr, nullptr)));
    const Stream stream = MakeStream();
    EXPECT_EQ(listener_.Size(), 0U);
}

TEST_F(StreamStateTest, ARefusedCallTellsNothing) {
    ASSERT_TRUE(IsOk(listener_.Register("a")));
    aclrtStream stream = nullptr;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateStreamWithConfig(&stream, 8, 0)));
    ASSERT_TRUE(IsOk(aclrtCtxGetCurrentDefaultStream(&stream)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtDestroyStream(stream)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL, aclrtDestroyContext(stream)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(1)));
    EXPECT_EQ(listener_.Size(), 0U);
    const aclrtStream own = MakeStream().Release();
    ASSERT_EQ(listener_.Size(), 1U);
    ASSERT_TRUE(IsOk(support::Enqueue(own, [own] {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtDestroyStream(own)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtDestroyStreamForce(own)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtResetDeviceForce(0)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclFinalize()));
    })));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(own)));
    EXPECT_EQ(listener_.Size(), 1U);
    ASSERT_TRUE(IsOk(aclrtDestroyStream(own)));
    EXPECT_EQ(listener_.Count(own, kDestroyed), 1U);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(own)));
    EXPECT_EQ(listener_.Size(), 2U);
}

// A destruction that turns out to wait for the calling host function is refused late; the stream is
// told of again when it really goes.
TEST_F(StreamStateTest, ALateRefusalIsNoDestruction) {
    const aclrtStream other = MakeStream().Release();
    const Stream own = MakeStream();
    const support::Event event = support::MakeEvent();
    ASSERT_TRUE(IsOk(listener_.Register("a")));
    {
        const support::HostGate gate(own.Get());
        ASSERT_TRUE(IsOk(support::Enqueue(own.Get(), [other] {
            EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtDestroyStream(other)));
        })));
        ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), own.Get())));
        ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(other, event.Get())));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(own.Get())));
    const size_t before = listener_.Count(other, kDestroyed);
    ASSERT_TRUE(IsOk(aclrtDestroyStream(other)));
    EXPECT_EQ(listener_.Count(other, kDestroyed), before + 1);
}

// State callbacks of streams that use the stream, throw, or meet other threads.

// During both calls the stream is alive and its context current, and no lock is held.
TEST_F(StreamStateTest, TheCallbackMayUseTheStream) {
    const auto ran = std::make_shared<std::atomic<int>>(0);
    listener_.also = [ran](aclrtStream stream, aclrtStreamState) {
        int32_t id = -7;
        EXPECT_TRUE(IsOk(aclrtStreamGetId(stream, &id)));
        EXPECT_TRUE(IsOk(support::Enqueue(stream, [ran] { *ran += 1; })));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
        void* memory = nullptr;
        EXPECT_TRUE(IsOk(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST)));
        EXPECT_TRUE(IsOk(aclrtFree(memory)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(99)));
        EXPECT_TRUE(IsOk(aclrtSetDevice(1)));  // undone afterwards
        EXPECT_TRUE(IsOk(aclrtResetDevice(1)));
    };
    ASSERT_TRUE(IsOk(listener_.Register("a")));
    ASSERT_TRUE(IsOk(aclrtDestroyStream(MakeStream().Release())));
    ASSERT_TRUE(IsOk(aclrtDestroyStreamForce(MakeStream().Release())));
    EXPECT_EQ(ran->load(), 4);
    int32_t device = -7;
    EXPECT_TRUE(IsOk(aclrtGetDevice(&device)));
    EXPECT_EQ(device, 0);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    EXPECT_EQ(support::TakeMessage(), "");
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    MakeStream().Release();
    ASSERT_TRUE(IsOk(aclrtDestroyContext(context)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    MakeStream().Release();
    ASSERT_TRUE(IsOk(aclrtResetDeviceForce(0)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    MakeStream().Release();
    ASSERT_NO_FATAL_FAILURE(Restart({}));
    EXPECT_EQ(ran->load(), 10);
}

// The callback resets the device whose reset called it.
TEST_F(StreamStateTest, TheCallbackMayGetAhead) {
    MakeStream().Release();
    listener_.also = [](aclrtStream, aclrtStreamState) {
        EXPECT_TRUE(IsOk(aclrtResetDeviceForce(0)));
    };
    ASSERT_TRUE(IsOk(listener_.Register("a")));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0)));
    EXPECT_EQ(listener_.Size(), 1U);
}

TEST_F(StreamStateTest, AThrowingCallbackHarmsNothing) {
    StateListener second;
    listener_.also = [](aclrtStream, aclrtStreamState) {
        throw std::runtime_error("thrown by the callback");
    };
    ASSERT_TRUE(IsOk(listener_.Register("a")));
    ASSERT_TRUE(IsOk(second.Register("b")));
    const support::StderrCapture log;
    const aclrtStream stream = MakeStream().Release();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream)));
    EXPECT_TRUE(IsOk(aclrtDestroyStream(stream)));
    EXPECT_EQ(second.Size(), 2U);
    EXPECT_NE(log.Text().find("thrown by the callback"), std::string::npos) << log.Text();
    ASSERT_TRUE(IsOk(aclrtRegStreamStateCallback("b", nullptr, nullptr)));
}

TEST_F(StreamStateTest, ManyThreadsDestroyAndEachStreamIsToldOfOnce) {
    ASSERT_TRUE(IsOk(listener_.Register("a")));
    const aclrtContext context = support::CurrentContext();
    for (int round = 0; round < 50; ++round) {
        const aclrtStream stream = MakeStream().Release();
        const support::Signal start;
        std::atomic<int> destroyed{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
                ASSERT_TRUE(start.Wait());
                destroyed += aclrtDestroyStream(stream) == ACL_SUCCESS ? 1 : 0;
            });
        }
        start.Set();
        for (std::thread& thread : threads) {
            thread.join();
        }
        EXPECT_EQ(destroyed.load(), 1);
        EXPECT_EQ(listener_.Count(stream, kDestroyed), 1U);
    }
}

TEST_F(StreamStateTest, RegistrationsMeetStreams) {
    const aclrtContext context = support::CurrentContext();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            const std::string name = "thread " + std::to_string(i);
            for (int round = 0; round < 100; ++round) {
                ASSERT_TRUE(IsOk(listener_.Register(name.c_str())));
                ASSERT_TRUE(IsOk(aclrtDestroyStream(MakeStream().Release())));
                ASSERT_TRUE(IsOk(aclrtRegStreamStateCallback(name.c_str(), nullptr, nullptr)));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_GE(listener_.Size(), 800U);
}

}  // namespace
