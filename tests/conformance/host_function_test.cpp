// SPDX-License-Identifier: Apache-2.0
// Host functions that call the runtime: what they find, what they may do, and that a call which
// would wait for the function that makes it is refused.
#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <functional>
#include <memory>

#include "acl/acl.h"
#include "conformance/handle_calls.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace {

using namespace support;

constexpr int kHostFunctionRefused = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;

// The result of a call that a host function makes.
class Result {
 public:
    void Set(int status) const {
        *status_ = status;
        done_.Set();
    }
    int Wait() const {
        EXPECT_TRUE(done_.Wait()) << "the host function hangs";
        return *status_;
    }

 private:
    std::shared_ptr<std::atomic<int>> status_ = std::make_shared<std::atomic<int>>(-1);
    support::Signal done_;
};

class HostFunctionTest : public support::DeviceTest {
 protected:
    // What call returns inside a host function of the stream.
    static int CallInside(aclrtStream stream, const std::function<int()>& call) {
        const Result result;
        EXPECT_TRUE(IsOk(support::Enqueue(stream, [=] { result.Set(call()); })));
        return result.Wait();
    }
};

// Neither the thread that waits nor the next function sees what a function has changed, whichever
// thread runs them.
TEST_F(HostFunctionTest, ChangesTheFloatingPointEnvironmentForItselfOnly) {
    const Stream stream = MakeStream();
    for (const bool atOnce : {true, false}) {
        int modes[2] = {-1, -1};
        for (int& mode : modes) {
            ASSERT_TRUE(IsOk(aclrtLaunchHostFunc(
                stream.Get(),
                [](void* found) {
                    *static_cast<int*>(found) = std::fegetround();
                    std::fesetround(FE_DOWNWARD);
                },
                &mode)));
        }
        if (!atOnce) {
            ASSERT_TRUE(support::Eventually([&] {
                aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
                (void)aclrtStreamQuery(stream.Get(), &status);
                return status == ACL_STREAM_STATUS_COMPLETE;
            }));
        }
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        EXPECT_EQ(modes[0], FE_TONEAREST) << atOnce;
        EXPECT_EQ(modes[1], FE_TONEAREST) << atOnce;
        EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    }
}

TEST_F(HostFunctionTest, HasTheContextOfItsStream) {
    const aclrtContext primary = support::CurrentContext();
    const Stream stream = MakeStream();
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtCreateContext(&context, 0)));
    const Stream other = MakeStream();
    const auto wrong = std::make_shared<std::atomic<int>>(0);
    const auto enqueue = [wrong](const Stream& to, aclrtContext expected) {
        return support::Enqueue(to.Get(), [wrong, expected] {
            aclrtContext current = nullptr;
            *wrong += aclrtGetCurrentContext(&current) != ACL_SUCCESS || current != expected;
        });
    };
    for (int i = 0; i < 100; ++i) {  // on threads of the library, and on this one
        ASSERT_TRUE(IsOk(enqueue(other, context)));
        ASSERT_TRUE(IsOk(aclrtSetCurrentContext(primary)));
        ASSERT_TRUE(IsOk(enqueue(stream, primary)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeDevice()));
        EXPECT_EQ(support::CurrentContext(), primary) << "the synchronising thread keeps its own";
        ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeDevice()));
        EXPECT_EQ(support::CurrentContext(), context);
    }
    EXPECT_EQ(*wrong, 0);
}

TEST_F(HostFunctionTest, IsRefusedWhoeverRunsIt) {
    const Stream stream = MakeStream();
    const aclrtStream handle = stream.Get();
    for (int i = 0; i < 100; ++i) {  // some of these run on this thread, some on the library's
        const Result result;
        ASSERT_TRUE(
            IsOk(support::Enqueue(handle, [=] { result.Set(aclrtSynchronizeStream(handle)); })));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(handle)));
        ASSERT_EQ(result.Wait(), kHostFunctionRefused);
    }
}

// The other stream waits for an event that comes after the host function in its own stream.
TEST_F(HostFunctionTest, IsRefusedForAStreamThatWaitsForIt) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const support::Event event = support::MakeEvent();
    const aclrtStream handle = other.Get();
    const support::Signal queued;
    const Result result;
    ASSERT_TRUE(IsOk(support::Enqueue(
        stream.Get(), [=] { result.Set(queued.Wait() ? aclrtSynchronizeStream(handle) : -2); })));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(handle, event.Get())));
    queued.Set();
    EXPECT_EQ(result.Wait(), kHostFunctionRefused);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(handle)));
}

TEST_F(HostFunctionTest, MayUseOtherStreams) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const aclrtStream handle = other.Get();
    const Recorder recorder;
    EXPECT_EQ(CallInside(stream.Get(),
                         [=] {
                             const int status = recorder.Mark(handle, 1);
                             return status == ACL_SUCCESS ? aclrtSynchronizeStream(handle) : status;
                         }),
              ACL_SUCCESS);
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
}

TEST_F(HostFunctionTest, MayQueueOnItsStream) {
    const Stream stream = MakeStream();
    const aclrtStream handle = stream.Get();
    const Recorder recorder;
    EXPECT_EQ(CallInside(handle, [=] { return recorder.Mark(handle, 1); }), ACL_SUCCESS);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(handle)));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
}

// NULL inside a host function is the default stream of its context, also when it runs in that
// stream.
class DefaultStreamInsideTest : public support::DeviceTest,
                                public testing::WithParamInterface<conformance::CallCase> {
 protected:
    static int CallInside(aclrtStream stream) {
        const auto arguments = std::make_shared<conformance::CallArguments>();
        const std::weak_ptr<conformance::CallArguments> weak = arguments;
        const Result result;
        EXPECT_TRUE(IsOk(support::Enqueue(stream, [=, call = GetParam().call] {
            const auto locked = weak.lock();
            result.Set(locked == nullptr ? -2 : call(*locked));
        })));
        const int status = result.Wait();
        EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
        return status;
    }
};

TEST_P(DefaultStreamInsideTest, OfAnotherStream) {
    const Stream stream = MakeStream();
    EXPECT_EQ(CallInside(stream.Get()), ACL_SUCCESS);
}

TEST_P(DefaultStreamInsideTest, OfTheDefaultStream) {
    const bool waits = GetParam().function == "aclrtSynchronizeStream";
    EXPECT_EQ(CallInside(nullptr), waits ? kHostFunctionRefused : ACL_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(Table, DefaultStreamInsideTest,
                         testing::ValuesIn(conformance::StreamCalls()), support::CaseName());

// Calls that would wait for the host function that makes them.
struct Objects {
    aclrtContext context;  // not a primary one, on device 0
    aclrtStream stream;    // of that context; runs the host function
    aclrtEvent event;      // recorded behind the host function
    void* device;          // 16 bytes
};

struct WaitCase {
    const char* name;
    aclError (*call)(const Objects& o);
};

class WaitForItselfTest : public support::DeviceTest,
                          public testing::WithParamInterface<WaitCase> {};

TEST_P(WaitForItselfTest, IsRefusedAndChangesNothing) {
    Objects objects{};
    ASSERT_TRUE(IsOk(aclrtCreateContext(&objects.context, 0)));
    const Stream stream = MakeStream();
    const support::Event event = support::MakeEvent();
    const support::DeviceBuffer device(std::vector<char>(16, 'd'));
    objects.stream = stream.Get();
    objects.event = event.Get();
    objects.device = device.Get();
    const support::Signal queued;
    const Result result;
    const Recorder recorder;
    ASSERT_TRUE(IsOk(support::Enqueue(
        objects.stream, [=] { result.Set(queued.Wait() ? GetParam().call(objects) : -2); })));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(objects.event, objects.stream)));
    ASSERT_TRUE(IsOk(recorder.Mark(objects.stream, 1)));
    queued.Set();
    EXPECT_EQ(result.Wait(), kHostFunctionRefused);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(objects.stream)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(objects.event)));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
    EXPECT_EQ(device.Download<char>(), std::vector<char>(16, 'd'));
    EXPECT_TRUE(IsOk(aclrtDestroyContext(objects.context)));
    EXPECT_TRUE(IsOk(aclrtResetDevice(0)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(0)));
}

INSTANTIATE_TEST_SUITE_P(
    Table, WaitForItselfTest,
    testing::Values(
        WaitCase{"SynchronizeStream",
                 [](const Objects& o) { return aclrtSynchronizeStream(o.stream); }},
        WaitCase{"SynchronizeEvent",
                 [](const Objects& o) { return aclrtSynchronizeEvent(o.event); }},
        WaitCase{"SynchronizeDevice", [](const Objects&) { return aclrtSynchronizeDevice(); }},
        WaitCase{"PageableCopyToTheDevice",
                 [](const Objects& o) {
                     const std::vector<char> host(16, 'h');
                     return aclrtMemcpyAsync(o.device, 16, host.data(), 16,
                                             ACL_MEMCPY_HOST_TO_DEVICE, o.stream);
                 }},
        WaitCase{"PageableCopyToTheHost",
                 [](const Objects& o) {
                     std::vector<char> host(16, 'h');
                     return aclrtMemcpyAsync(host.data(), 16, o.device, 16,
                                             ACL_MEMCPY_DEVICE_TO_HOST, o.stream);
                 }},
        WaitCase{"DestroyStream", [](const Objects& o) { return aclrtDestroyStream(o.stream); }},
        WaitCase{"DestroyStreamForce",
                 [](const Objects& o) { return aclrtDestroyStreamForce(o.stream); }},
        WaitCase{"DestroyContext", [](const Objects& o) { return aclrtDestroyContext(o.context); }},
        WaitCase{"ResetDevice", [](const Objects&) { return aclrtResetDevice(0); }},
        WaitCase{"ResetDeviceForce", [](const Objects&) { return aclrtResetDeviceForce(0); }},
        WaitCase{"Finalize", [](const Objects&) { return aclFinalize(); }}),
    support::CaseName());

}  // namespace
