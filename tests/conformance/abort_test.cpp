// SPDX-License-Identifier: Apache-2.0
// aclrtStreamAbort: what it drops, whom it tells, and that the stream goes on.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "conformance/abort_call.h"
#include "conformance/captures.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"
#include "support/table.h"
#include "support/waits.h"

namespace {

using namespace support;

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

// A stream that stands at a gate, before a mark of 1 and a record.
struct HeldRecord {
    HeldRecord() {
        EXPECT_TRUE(gate.WaitEntered());
        EXPECT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
        EXPECT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    }
    const Stream stream = MakeStream();
    const Event event = MakeEvent();
    const Recorder recorder;
    const HostGate gate{stream.Get()};
};

// What was in a dropped record does not hold anybody for ever.
TEST_F(AbortTest, WaitsForDroppedRecordsAreOver) {
    const Stream other = MakeStream();
    const HeldRecord held;
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(other.Get(), held.event.Get())));
    ASSERT_TRUE(IsOk(held.recorder.Mark(other.Get(), 2)));
    EXPECT_TRUE(IsOk(aclrtStreamAbort(held.stream.Get())));
    held.gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(held.event.Get())));
    EXPECT_EQ(held.recorder.Values(), std::vector<int>{2});
}

// Synchronisations that wait for the stream.
struct WaiterCase {
    std::string name;
    std::function<aclError(aclrtStream stream, aclrtEvent event)> wait;
};

class AbortedWaitTest : public support::DeviceTest,
                        public testing::WithParamInterface<WaiterCase> {};

TEST_P(AbortedWaitTest, ReturnsItsCode) {
    const HeldRecord held;
    conformance::ExpectAborted(held.stream, held.gate, [&] {
        return GetParam().wait(held.stream.Get(), held.event.Get());
    });
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(held.stream.Get())));
    EXPECT_EQ(held.recorder.Values(), std::vector<int>{});
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
    conformance::ExpectAborted(stream, gate, [&] {
        const std::vector<char> host(64, 'h');
        return aclrtMemcpyAsync(device.Get(), 64, host.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE,
                                stream.Get());
    });
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

// aclrtStreamAbort of a stream that stands at a wait without an end.

// The stream stands at a wait that nobody will ever end.
struct StuckCase {
    std::string name;
    std::function<aclError(aclrtStream stream, aclrtEvent held, aclrtNotify notify, void* word)>
        wait;
};

class AbortedStuckTest : public support::DeviceTest,
                         public testing::WithParamInterface<StuckCase> {};

TEST_P(AbortedStuckTest, ComesFree) {
    const Stream held = MakeStream();
    const HostGate gate(held.Get());
    const Event event = MakeEvent();
    const conformance::Notify notify = conformance::MakeNotify();
    const support::DeviceBuffer word(std::vector<uint64_t>{0});
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), held.Get())));
    const Stream stream = MakeStream();
    const Recorder recorder;
    ASSERT_TRUE(IsOk(GetParam().wait(stream.Get(), event.Get(), notify.Get(), word.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                        aclrtSynchronizeStreamWithTimeout(stream.Get(), support::kShort)));
    EXPECT_TRUE(IsOk(aclrtStreamAbort(stream.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 2)));
    EXPECT_TRUE(recorder.WaitFor(1)) << "by itself";
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{2});
    gate.Open();
}

INSTANTIATE_TEST_SUITE_P(
    Table, AbortedStuckTest,
    testing::Values(StuckCase{"Event", [](aclrtStream stream, aclrtEvent held, aclrtNotify,
                                          void*) { return aclrtStreamWaitEvent(stream, held); }},
                    StuckCase{"EventWithTimeout",
                              [](aclrtStream stream, aclrtEvent held, aclrtNotify, void*) {
                                  return aclrtStreamWaitEventWithTimeout(stream, held, 1000);
                              }},
                    StuckCase{"Notify",
                              [](aclrtStream stream, aclrtEvent, aclrtNotify notify, void*) {
                                  return aclrtWaitAndResetNotify(notify, stream, 0);
                              }},
                    StuckCase{"Value",
                              [](aclrtStream stream, aclrtEvent, aclrtNotify, void* word) {
                                  return aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_EQ, stream);
                              }}),
    support::CaseName());

}  // namespace
