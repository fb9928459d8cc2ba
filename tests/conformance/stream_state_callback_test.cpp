// SPDX-License-Identifier: Apache-2.0
// State callbacks of streams that use the stream, throw, or meet other threads.
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

using conformance::kDestroyed;
using conformance::StateListener;
using conformance::StreamStateTest;
using support::IsError;
using support::IsOk;
using support::MakeStream;

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
