// SPDX-License-Identifier: Apache-2.0
// pthread_cancel of a thread that is in a call: the call ends as usual, and then the thread.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <functional>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/threads.h"

namespace {

using support::IsOk;

class CancelTest : public support::DeviceTest {
 protected:
    struct Call {
        aclrtContext context;
        std::function<void()> call;
        support::Signal begun;
        bool returned = false;
    };

    // Makes the call in a thread, and cancels the thread, which may be before the call or in it.
    // Then lets the call end: it must return, and the thread must end by the cancellation.
    static void CancelIn(std::function<void()> call, const std::function<void()>& letGo) {
        Call arguments{support::CurrentContext(), std::move(call), {}};
        pthread_t thread{};
        ASSERT_EQ(pthread_create(
                      &thread, nullptr,
                      [](void* pointer) -> void* {
                          auto& my = *static_cast<Call*>(pointer);
                          EXPECT_TRUE(IsOk(aclrtSetCurrentContext(my.context)));
                          pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
                          my.begun.Set();  // this may wait, and so be a cancellation point
                          pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
                          my.call();
                          my.returned = true;
                          pthread_testcancel();
                          return nullptr;
                      },
                      &arguments),
                  0);
        EXPECT_TRUE(arguments.begun.Wait());
        EXPECT_EQ(pthread_cancel(thread), 0);
        letGo();
        void* result = nullptr;
        ASSERT_EQ(pthread_join(thread, &result), 0);
        EXPECT_EQ(result, PTHREAD_CANCELED);
        EXPECT_TRUE(arguments.returned);
    }
};

TEST_F(CancelTest, OfASynchronisation) {
    const support::Stream stream = support::MakeStream();
    const support::HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    CancelIn([&] { EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get()))); },
             [&] { gate.Open(); });
    // The stream and the device are as usable as before.
    const support::Recorder ran;
    EXPECT_TRUE(IsOk(ran.Mark(stream.Get(), 1)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsOk(ran.Mark(stream.Get(), 2)));
    EXPECT_TRUE(ran.WaitFor(2));
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
}

TEST_F(CancelTest, OfASynchronisationOfTheDevice) {
    const support::Stream stream = support::MakeStream();
    const support::HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    CancelIn([] { EXPECT_TRUE(IsOk(aclrtSynchronizeDeviceWithTimeout(-1))); },
             [&] { gate.Open(); });
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
}

TEST_F(CancelTest, OfADestruction) {
    aclrtStream stream = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateStream(&stream)));
    const support::HostGate gate(stream);
    ASSERT_TRUE(gate.WaitEntered());
    CancelIn([&] { EXPECT_TRUE(IsOk(aclrtDestroyStream(stream))); }, [&] { gate.Open(); });
    EXPECT_NE(aclrtSynchronizeStream(stream), 0);
}

TEST_F(CancelTest, OfAProcessReport) {
    const support::Stream stream = support::MakeStream();
    static const support::Signal subscribed;
    static bool ran = false;
    CancelIn(
        [&] {
            EXPECT_TRUE(IsOk(aclrtSubscribeReport(pthread_self(), stream.Get())));
            pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
            subscribed.Set();
            pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
            EXPECT_TRUE(IsOk(aclrtProcessReport(-1)));
            EXPECT_TRUE(IsOk(aclrtUnSubscribeReport(pthread_self(), stream.Get())));
        },
        [&] {
            EXPECT_TRUE(subscribed.Wait());
            EXPECT_TRUE(IsOk(aclrtLaunchCallback([](void*) { ran = true; }, nullptr,
                                                 ACL_CALLBACK_BLOCK, stream.Get())));
        });
    EXPECT_TRUE(ran);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

TEST_F(CancelTest, OfAFileOfAModel) {
    const support::Stream stream = support::MakeStream();
    ASSERT_TRUE(IsOk(aclmdlRICaptureBegin(stream.Get(), ACL_MODEL_RI_CAPTURE_MODE_RELAXED)));
    aclmdlRI model = nullptr;
    ASSERT_TRUE(IsOk(aclmdlRICaptureEnd(stream.Get(), &model)));
    support::OnACancelledThread([&] {
        EXPECT_TRUE(
            IsOk(aclmdlRIDebugJsonPrint(model, "/dev/null", ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY)));
    });
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model)));
}

// The host refuses the file, and sends a signal that the library takes.
TEST_F(CancelTest, OfAnAllocationBeyondALimit) {
    const aclrtContext context = support::CurrentContext();
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit none{0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
    support::OnACancelledThread([&] {
        void* memory = nullptr;
        EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        constexpr size_t kMoreThanAFile = size_t{257} << 20;
        EXPECT_EQ(aclrtMalloc(&memory, kMoreThanAFile, ACL_MEM_MALLOC_HUGE_FIRST),
                  ACL_ERROR_RT_MEMORY_ALLOCATION);
    });
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
}

// A handle that is opened twice is an event of another process to this one.
TEST_F(CancelTest, OfASynchronisationWithAnEventOfAnotherProcess) {
    const support::Event event = support::MakeEventExWithFlag(ACL_EVENT_IPC);
    aclrtIpcEventHandle handle{};
    ASSERT_TRUE(IsOk(aclrtIpcGetEventHandle(event.Get(), &handle)));
    aclrtEvent opened = nullptr;
    ASSERT_TRUE(IsOk(aclrtIpcOpenEventHandle(handle, &opened)));
    const support::Stream stream = support::MakeStream();
    const support::HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    CancelIn([&] { EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(opened))); }, [&] { gate.Open(); });
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(opened)));
    EXPECT_TRUE(IsOk(aclrtDestroyEvent(opened)));
}

// The synchronising thread runs the host function itself, unless a worker is faster. Either way the
// function runs to its end, though it has a cancellation point.
TEST_F(CancelTest, OfAHostFunctionOfTheSynchronisation) {
    const support::Stream stream = support::MakeStream();
    const support::Recorder ran;
    for (int time = 1; time <= 20; ++time) {
        const support::Signal entered;
        const support::Signal opened;
        CancelIn(
            [&] {
                EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [=] {
                    entered.Set();
                    EXPECT_TRUE(opened.Wait());
                    pthread_testcancel();
                    ran.MarkNow(time);
                })));
                EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
            },
            [&] {
                EXPECT_TRUE(entered.Wait());
                opened.Set();
            });
    }
    EXPECT_EQ(ran.Values().size(), 20U);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
}

// The synchronisation with a timeout leaves the host function to the library's threads.
TEST_F(CancelTest, OfASynchronisationThatRunsNoHostFunctions) {
    const support::Stream stream = support::MakeStream();
    const support::Signal opened;
    const support::Recorder ran;
    CancelIn(
        [&] {
            EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [opened, ran] {
                EXPECT_TRUE(opened.Wait());
                pthread_testcancel();
                ran.MarkNow(1);
            })));
            EXPECT_TRUE(IsOk(aclrtSynchronizeStreamWithTimeout(stream.Get(), -1)));
        },
        [&] { opened.Set(); });
    EXPECT_EQ(ran.Values(), std::vector<int>{1});
}

}  // namespace
