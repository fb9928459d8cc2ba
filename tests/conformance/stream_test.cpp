// SPDX-License-Identifier: Apache-2.0
// Streams: order, asynchrony, independence, queries and destruction.
#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/host_work.h"
#include "support/runtime_test.h"

namespace {

using namespace support;

class StreamTest : public support::DeviceTest {
 protected:
    static aclrtStreamStatus Query(aclrtStream stream) {
        aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
        EXPECT_TRUE(IsOk(aclrtStreamQuery(stream, &status)));
        return status;
    }
    static std::vector<int> UpTo(int count) {
        std::vector<int> values(count);
        std::iota(values.begin(), values.end(), 0);
        return values;
    }
};

TEST_F(StreamTest, RunsInOrder) {
    const Recorder recorder;
    const Stream stream = MakeStream();
    for (int i = 0; i < 2000; ++i) {
        ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), i)));
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), UpTo(2000));
}

TEST_F(StreamTest, EnqueueReturnsBeforeTheWorkHasRun) {
    const Recorder recorder;
    const Stream stream = MakeStream();
    const HostGate gate(stream.Get());
    const support::DeviceBuffer device(64);
    const support::PinnedArray<char> pinned(64);
    for (int i = 0; i < 5000; ++i) {
        ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), i)));
    }
    ASSERT_TRUE(IsOk(aclrtMemsetAsync(device.Get(), 64, 7, 64, stream.Get())));
    ASSERT_TRUE(IsOk(aclrtMemcpyAsync(pinned.Get(), 64, device.Get(), 64, ACL_MEMCPY_DEVICE_TO_HOST,
                                      stream.Get())));
    ASSERT_TRUE(gate.WaitEntered());
    EXPECT_TRUE(recorder.Values().empty());
    EXPECT_EQ(pinned[0], 0);
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), UpTo(5000));
    EXPECT_EQ(pinned[63], 7);
}

TEST_F(StreamTest, MakesProgressWithoutSynchronisation) {
    const Recorder recorder;
    const Stream stream = MakeStream();
    for (int round = 0; round < 50; ++round) {
        ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), round)));
        ASSERT_TRUE(recorder.WaitFor(round + 1)) << "round " << round;
    }
}

TEST_F(StreamTest, CopiesMakeProgressWithoutSynchronisation) {
    const Stream stream = MakeStream();
    const support::DeviceBuffer device(1 << 16);
    const support::Event event = support::MakeEvent();
    for (int round = 0; round < 20; ++round) {
        ASSERT_TRUE(IsOk(aclrtMemsetAsync(device.Get(), 1 << 16, round, 1 << 16, stream.Get())));
        ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
        EXPECT_TRUE(support::Eventually([&] {
            aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
            EXPECT_TRUE(IsOk(aclrtQueryEventStatus(event.Get(), &status)));
            return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
        }));
    }
}

TEST_F(StreamTest, StreamsAreIndependent) {
    const Recorder recorder;
    std::vector<Stream> held;
    std::vector<std::unique_ptr<HostGate>> gates;
    for (int i = 0; i < 8; ++i) {
        held.push_back(MakeStream());
        gates.push_back(std::make_unique<HostGate>(held.back().Get()));
        ASSERT_TRUE(gates.back()->WaitEntered()) << "stream " << i;
        ASSERT_TRUE(IsOk(recorder.Mark(held.back().Get(), 100)));
    }
    const Stream free = MakeStream();
    ASSERT_TRUE(IsOk(recorder.Mark(free.Get(), 1)));
    ASSERT_TRUE(recorder.WaitFor(1));
    ASSERT_TRUE(IsOk(recorder.Mark(nullptr, 2)));
    ASSERT_TRUE(recorder.WaitFor(2)) << "the default stream is held by no other";
    ASSERT_TRUE(IsOk(recorder.Mark(free.Get(), 3)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(free.Get())));
    EXPECT_EQ(recorder.Values(), (std::vector<int>{1, 2, 3}));
}

TEST_F(StreamTest, DefaultStreamHoldsNoOther) {
    const Recorder recorder;
    const Stream stream = MakeStream();
    const HostGate gate(nullptr);
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), 1)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
}

TEST_F(StreamTest, QueryTellsWhetherAllHasRun) {
    const Stream stream = MakeStream();
    EXPECT_EQ(Query(stream.Get()), ACL_STREAM_STATUS_COMPLETE);
    const HostGate gate(stream.Get());
    EXPECT_EQ(Query(stream.Get()), ACL_STREAM_STATUS_NOT_READY);
    ASSERT_TRUE(gate.WaitEntered());
    EXPECT_EQ(Query(stream.Get()), ACL_STREAM_STATUS_NOT_READY);
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(Query(stream.Get()), ACL_STREAM_STATUS_COMPLETE);
}

TEST_F(StreamTest, QueryRunsNoHostFunction) {
    const Stream stream = MakeStream();
    const std::thread::id self = std::this_thread::get_id();
    const auto elsewhere = std::make_shared<std::atomic<int>>(0);
    for (int i = 0; i < 200; ++i) {
        ASSERT_TRUE(IsOk(support::Enqueue(stream.Get(), [self, elsewhere] {
            *elsewhere += std::this_thread::get_id() == self ? 0 : 1;
        })));
        ASSERT_TRUE(
            support::Eventually([&] { return Query(stream.Get()) == ACL_STREAM_STATUS_COMPLETE; }));
    }
    EXPECT_EQ(elsewhere->load(), 200);
}

TEST_F(StreamTest, ArgumentsReachTheHostFunction) {
    const Stream stream = MakeStream();
    int value = 0;
    ASSERT_TRUE(IsOk(aclrtLaunchHostFunc(
        stream.Get(), [](void* args) { *static_cast<int*>(args) = 42; }, &value)));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(value, 42);
}

TEST_F(StreamTest, ThreadsMayShareAStream) {
    const Stream stream = MakeStream();
    const aclrtContext context = support::CurrentContext();
    const Recorder recorder;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            ASSERT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            for (int i = 0; i < 300; ++i) {
                ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), t * 1000 + i)));
                if (i % 50 == 49) {
                    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    const std::vector<int> values = recorder.Values();
    ASSERT_EQ(values.size(), 1200U) << "each thread has synchronised after its last mark";
    std::vector<int> next(4, 0);
    for (const int value : values) {
        EXPECT_EQ(value % 1000, next[value / 1000]++) << "thread " << value / 1000;
    }
}

TEST_F(StreamTest, ConfigTakesPrioritiesAndFlags) {
    for (uint32_t priority = 0; priority <= 7; ++priority) {
        aclrtStream stream = nullptr;
        ASSERT_TRUE(IsOk(aclrtCreateStreamWithConfig(&stream, priority, 0x3F)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream)));
        EXPECT_TRUE(IsOk(aclrtDestroyStream(stream)));
    }
    for (uint32_t flag = 1; flag <= ACL_STREAM_DEVICE_USE_ONLY; flag *= 2) {
        aclrtStream stream = nullptr;
        ASSERT_TRUE(IsOk(aclrtCreateStreamWithConfig(&stream, 0, flag))) << flag;
        EXPECT_TRUE(IsOk(aclrtDestroyStream(stream)));
    }
}

TEST_F(StreamTest, ConfigRefusesOtherValues) {
    aclrtStream stream = nullptr;
    EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateStreamWithConfig(&stream, 8, 0),
                        {"aclrtCreateStreamWithConfig: ", "priority", "8"}));
    for (const uint32_t flag : {0x40U, 0x41U, 0x80000000U}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_PARAM_INVALID,
                            aclrtCreateStreamWithConfig(&stream, 0, flag),
                            {"aclrtCreateStreamWithConfig: ", "flag"}));
    }
    EXPECT_EQ(stream, nullptr);
}

TEST_F(StreamTest, DestroyWaitsForPendingWork) {
    const Recorder recorder;
    Stream stream = MakeStream();
    const HostGate gate(stream.Get());
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(IsOk(recorder.Mark(stream.Get(), i)));
    }
    std::thread opener([&gate] {
        EXPECT_TRUE(gate.WaitEntered());
        gate.Open();
    });
    EXPECT_TRUE(IsOk(aclrtDestroyStream(stream.Release())));
    EXPECT_EQ(recorder.Values(), UpTo(100));
    opener.join();
}

TEST_F(StreamTest, DestroyTwiceIsRefused) {
    const aclrtStream stream = MakeStream().Release();
    ASSERT_TRUE(IsOk(aclrtDestroyStream(stream)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(stream),
                        {"aclrtDestroyStream: ", "stream"}));
}

// Holds a stream before its first task by a wait for an event of a gated stream, so that none of
// its work has started.
TEST_F(StreamTest, ForcedDestroyDropsWorkThatHasNotStarted) {
    const Recorder recorder;
    const Stream held = MakeStream();
    const Stream third = MakeStream();
    Stream dropped = MakeStream();
    const HostGate gate(held.Get());
    const support::Event opened = support::MakeEvent();
    const support::Event after = support::MakeEvent();
    ASSERT_TRUE(IsOk(aclrtRecordEvent(opened.Get(), held.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(dropped.Get(), opened.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(dropped.Get(), 1)));
    ASSERT_TRUE(IsOk(aclrtRecordEvent(after.Get(), dropped.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(third.Get(), after.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(third.Get(), 2)));
    EXPECT_TRUE(IsOk(aclrtDestroyStreamForce(dropped.Release())));
    ASSERT_TRUE(recorder.WaitFor(1)) << "waits on dropped work are over";
    EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(after.Get())));
    gate.Open();
    ASSERT_TRUE(IsOk(aclrtSynchronizeDevice()));
    EXPECT_EQ(recorder.Values(), std::vector<int>{2});
}

}  // namespace
