// SPDX-License-Identifier: Apache-2.0
// aclrtStreamAbort: what it drops, whom it tells, and that the stream goes on.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "conformance/captures.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/table.h"
#include "support/waits.h"

namespace {

using support::Event;
using support::HostGate;
using support::IsError;
using support::IsOk;
using support::kLong;
using support::MakeEvent;
using support::MakeStream;
using support::Recorder;
using support::Stream;

class AbortTest : public support::DeviceTest {};

TEST_F(AbortTest, DropsWhatHasNotStarted) {
    const Stream stream = MakeStream();
    const Recorder recorder;
    const support::DeviceBuffer device(std::vector<char>(64, 'd'));
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    ASSERT_TRUE(IsOk(aclrtMemsetAsync(device.Get(), 64, 'x', 64, stream.Get())));
    EXPECT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_TRUE(IsOk(aclrtStreamQuery(stream.Get(), &status)));
    EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY) << "what is running ends by itself";
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 2)));
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get()))) << "it began after the abort";
    EXPECT_EQ(recorder.Values(), std::vector<int>{2}) << "the stream takes new work";
    EXPECT_EQ(device.Download<char>(), std::vector<char>(64, 'd'));
}

TEST_F(AbortTest, OfAnIdleStreamIsHarmless) {
    const Stream stream = MakeStream();
    const Recorder recorder;
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
        ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), i)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    }
    EXPECT_EQ(recorder.Values(), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(AbortTest, TakesTheDefaultStream) {
    const Recorder recorder;
    const HostGate gate(nullptr);
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(recorder.Mark(nullptr, 1)));
    EXPECT_TRUE(IsOk(aclrtStreamAbort(nullptr)));
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
    EXPECT_EQ(recorder.Values(), std::vector<int>{});
}

TEST_F(AbortTest, LeavesOtherStreamsAlone) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const Recorder recorder;
    {
        const HostGate gate(other.Get());
        ASSERT_TRUE(IsOk(recorder.Mark(other.Get(), 1)));
        EXPECT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
}

TEST_F(AbortTest, FromAHostFunctionOfTheStream) {
    const Stream stream = MakeStream();
    const aclrtStream handle = stream.Get();
    const Recorder recorder;
    const support::Signal queued;
    const auto status = std::make_shared<std::atomic<int>>(-1);
    ASSERT_TRUE(IsOk(support::Enqueue(handle, [=] {
        EXPECT_TRUE(queued.Wait());
        *status = aclrtStreamAbort(handle);
        recorder.MarkNow(1);
    })));
    ASSERT_TRUE(IsOk(recorder.Mark(handle, 2)));
    queued.Set();
    ASSERT_TRUE(recorder.WaitFor(1));
    EXPECT_EQ(*status, ACL_SUCCESS);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(handle))) << "it began after the abort";
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
}

// What was in a dropped record does not hold anybody for ever.
TEST_F(AbortTest, WaitsForDroppedRecordsAreOver) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    const Event event = MakeEvent();
    const Recorder recorder;
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(other.Get(), event.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(other.Get(), 2)));
    EXPECT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{2});
}

// Synchronisations that wait for the stream. The aborts go on until the call has returned: only one
// that comes after the call has begun to wait tells it.
struct WaiterCase {
    std::string name;
    std::function<aclError(aclrtStream stream, aclrtEvent event)> wait;
};

class AbortedWaitTest : public support::DeviceTest,
                        public testing::WithParamInterface<WaiterCase> {};

TEST_P(AbortedWaitTest, ReturnsItsCode) {
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    const Recorder recorder;
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    const aclrtContext context = support::CurrentContext();
    std::atomic<bool> returned{false};
    std::thread waiter([&] {
        EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_ABORT, GetParam().wait(stream.Get(), event.Get())));
        returned = true;
    });
    EXPECT_TRUE(support::Eventually([&] {
        EXPECT_EQ(aclrtStreamAbort(stream.Get()), ACL_SUCCESS);
        return returned.load();
    })) << "the waiting call does not return while the stream stands at the gate";
    gate.Open();
    waiter.join();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{});
}

INSTANTIATE_TEST_SUITE_P(
    Table, AbortedWaitTest,
    testing::Values(WaiterCase{"Stream", [](aclrtStream stream,
                                            aclrtEvent) { return aclrtSynchronizeStream(stream); }},
                    WaiterCase{"StreamWithTimeout",
                               [](aclrtStream stream, aclrtEvent) {
                                   return aclrtSynchronizeStreamWithTimeout(stream, kLong);
                               }},
                    WaiterCase{"StreamForEver",
                               [](aclrtStream stream, aclrtEvent) {
                                   return aclrtSynchronizeStreamWithTimeout(stream, -1);
                               }},
                    WaiterCase{"Device",
                               [](aclrtStream, aclrtEvent) { return aclrtSynchronizeDevice(); }},
                    WaiterCase{"DeviceWithTimeout",
                               [](aclrtStream, aclrtEvent) {
                                   return aclrtSynchronizeDeviceWithTimeout(kLong);
                               }}),
    support::CaseName());

TEST_F(AbortTest, EveryWaiterIsTold) {
    const Stream stream = MakeStream();
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    const aclrtContext context = support::CurrentContext();
    std::atomic<int> told{0};
    std::vector<std::thread> waiters;
    for (int i = 0; i < 4; ++i) {
        waiters.emplace_back([&] {
            EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            told += aclrtSynchronizeStream(stream.Get()) == ACL_ERROR_RT_STREAM_ABORT;
        });
    }
    EXPECT_TRUE(support::Eventually([&] {
        EXPECT_EQ(aclrtStreamAbort(stream.Get()), ACL_SUCCESS);
        return told == 4;
    }));
    gate.Open();
    for (std::thread& waiter : waiters) {
        waiter.join();
    }
}

// A copy of pageable memory has its own caller waiting for it.
TEST_F(AbortTest, APageableCopyThatIsDroppedIsNoSuccess) {
    const Stream stream = MakeStream();
    const support::DeviceBuffer device(std::vector<char>(64, 'd'));
    const HostGate gate(stream.Get());
    ASSERT_TRUE(gate.WaitEntered());
    const aclrtContext context = support::CurrentContext();
    std::atomic<bool> returned{false};
    std::thread copier([&] {
        EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        const std::vector<char> host(64, 'h');
        EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_ABORT,
                            aclrtMemcpyAsync(device.Get(), 64, host.data(), 64,
                                             ACL_MEMCPY_HOST_TO_DEVICE, stream.Get())));
        returned = true;
    });
    EXPECT_TRUE(support::Eventually([&] {
        EXPECT_EQ(aclrtStreamAbort(stream.Get()), ACL_SUCCESS);
        return returned.load();
    }));
    gate.Open();
    copier.join();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(device.Download<char>(), std::vector<char>(64, 'd'));
}

// A replay that is running is dropped like other work: what runs ends, the rest does not start.
TEST_F(AbortTest, OfAReplay) {
    const Stream stream = MakeStream();
    const Recorder recorder;
    const support::Signal entered;
    const support::Signal opened;
    const conformance::Model model = conformance::Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [=] {
            entered.Set();
            EXPECT_TRUE(opened.Wait());
        })));
        EXPECT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    });
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
    ASSERT_TRUE(entered.Wait());
    EXPECT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
    opened.Set();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{});
    EXPECT_TRUE(IsOk(conformance::Replay(model, stream)));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1}) << "the model is as before";
}

}  // namespace
