// SPDX-License-Identifier: Apache-2.0
// Records and waits with a flag, and aclrtStreamStop.
#include "conformance/conditional_fixture.h"
#include "support/waits.h"

namespace conformance {
namespace {

constexpr uint32_t kExternal = ACL_EVENT_RECORD_EXTERNAL;
constexpr int kBadFlag = ACL_ERROR_RT_PARAM_INVALID;

Event MakeSync() { return support::MakeEventExWithFlag(ACL_EVENT_SYNC); }

class EventFlagTest : public ConditionalTest {
 protected:
    static aclError Record(const Event& event, const Stream& stream, uint32_t flag) {
        return aclrtRecordEventWithFlag(event.Get(), stream.Get(), flag);
    }
    static aclError Wait(const Stream& stream, const Event& event, uint32_t timeout,
                         uint32_t flag) {
        return aclrtStreamWaitEventWithFlag(stream.Get(), event.Get(), timeout, flag);
    }
};

TEST_F(EventFlagTest, DefaultIsTheCallWithoutAFlag) {
    const Stream from = MakeStream();
    const Stream to = MakeStream();
    const Event event = MakeSync();
    {
        const HostGate gate(from.Get());
        Mark(from, 1);
        ASSERT_TRUE(IsOk(Record(event, from, 0)));
        ASSERT_TRUE(IsOk(Wait(to, event, 1000, 0)));
        Mark(to, 2);
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(to.Get())));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2}));
}

// A graph's record counts for the waits that come after its ExecuteAsync.
TEST_F(EventFlagTest, AStreamWaitsForTheRecordOfTheReplay) {
    const Stream graph = MakeStream();
    const Stream other = MakeStream();
    const Stream side = MakeStream();
    for (const bool inBranch : {false, true}) {
        const Event event = MakeSync();
        Begin(graph.Get());
        Mark(graph, 1);
        if (inBranch) {
            Order(graph, side);
            Mark(side, 2);
        }
        ASSERT_TRUE(IsOk(Record(event, inBranch ? side : graph, kExternal)));
        if (inBranch) {
            Order(side, graph);
        }
        const Model model = End(graph.Get());
        ASSERT_TRUE(IsOk(Wait(other, event, 0, 0))) << "nothing is recorded yet";
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
        for (int replay = 0; replay < 10; ++replay) {
            const size_t before = recorder_.Values().size();
            {
                const HostGate gate(graph.Get());
                ASSERT_TRUE(IsOk(Queue(model, graph)));
                ASSERT_TRUE(IsOk(Wait(other, event, 0, 0)));
                Mark(other, 3);
                EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other.Get(), 1),
                          ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
            }
            ASSERT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
            const std::vector<int> values = recorder_.Values();
            ASSERT_EQ(values.size(), before + (inBranch ? 3 : 2));
            EXPECT_EQ(values.back(), 3);
            EXPECT_TRUE(IsOk(aclrtSynchronizeEvent(event.Get())));
        }
    }
}

// A graph waits for the latest record at its ExecuteAsync, and for none of later ones.
TEST_F(EventFlagTest, AReplayWaitsForTheLatestRecord) {
    const Stream graph = MakeStream();
    const Stream other = MakeStream();
    const Event event = MakeSync();
    Begin(graph.Get());
    ASSERT_TRUE(IsOk(Wait(graph, event, 0, kExternal)));
    Mark(graph, 2);
    const Model model = End(graph.Get());
    ASSERT_TRUE(IsOk(Replay(model, graph))) << "never recorded: nothing to wait for";
    for (int replay = 0; replay < 10; ++replay) {
        const HostGate gate(other.Get());
        Mark(other, 1);
        ASSERT_TRUE(IsOk(Record(event, other, 0)));
        ASSERT_TRUE(IsOk(Queue(model, graph)));
        const HostGate later(other.Get());
        ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), other.Get())));
        EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(graph.Get(), 1),
                  ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        gate.Open();
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(graph.Get())));
        EXPECT_EQ(recorder_.Values().back(), 2);
        later.Open();
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
    }
}

TEST_F(EventFlagTest, WrongUsesAreRefused) {
    const Stream stream = MakeStream();
    const Event event = MakeSync();
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, Record(event, stream, 2), {"flag is 2"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, Wait(stream, event, 0, 2), {"flag is 2"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_INVALID_PARAM, Wait(stream, event, 1, kExternal), {"timeout is 1"}));
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_STREAM_NOT_CAPTURED, Record(event, stream, kExternal), {"stream"}));
    // The flag is that of the first call, also if it failed.
    EXPECT_TRUE(IsError(kBadFlag, Record(event, stream, 0), {"event", "EXTERNAL"}));
    EXPECT_TRUE(IsError(kBadFlag, aclrtRecordEvent(event.Get(), stream.Get()), {"EXTERNAL"}));
    ASSERT_TRUE(IsOk(Wait(stream, event, 0, 0))) << "a wait has a flag of its own";
    Begin(stream.Get());
    EXPECT_TRUE(IsError(kBadFlag, Wait(stream, event, 0, kExternal), {"event"}));
    ASSERT_TRUE(IsOk(Record(event, stream, kExternal)));
    EXPECT_TRUE(IsError(kBadFlag, Record(event, stream, kExternal), {"once"}));
    for (const uint32_t flag : {ACL_EVENT_TIME_LINE, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE,
                                ACL_EVENT_CAPTURE_STREAM_PROGRESS}) {
        const Event other = support::MakeEventExWithFlag(flag);
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, Record(other, stream, kExternal),
                            {"ACL_EVENT_SYNC alone"}));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, Wait(stream, other, 0, kExternal),
                            {"ACL_EVENT_SYNC alone"}));
    }
    const Event inner = MakeSync();
    Add(stream, MakeCondition(stream, 0), kIf, {[&](const Stream& body) {
            EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, Record(inner, body, kExternal),
                                {"sub-graph"}));
            EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, Wait(body, inner, 0, kExternal),
                                {"sub-graph"}));
        }});
    const Model model = End(stream.Get());
    EXPECT_TRUE(IsOk(Replay(model, stream)));
}

TEST_F(EventFlagTest, ADestroyedEventIsFoundByTheReplay) {
    const Stream stream = MakeStream();
    Event event = MakeSync();
    Begin(stream.Get());
    ASSERT_TRUE(IsOk(Record(event, stream, kExternal)));
    const Model model = End(stream.Get());
    ASSERT_TRUE(IsOk(Replay(model, stream)));
    ASSERT_TRUE(IsOk(aclrtDestroyEvent(event.Release())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, Queue(model, stream), {"event"}));
}

class StreamStopTest : public EventFlagTest {};

TEST_F(StreamStopTest, EndsTheWaitThatTheStreamIsAt) {
    const Stream stream = MakeStream();
    const Notify never = MakeNotify();
    Mark(stream, 1);
    ASSERT_TRUE(IsOk(aclrtWaitAndResetNotify(never.Get(), stream.Get(), 0)));
    Mark(stream, 2);
    ASSERT_TRUE(IsOk(aclrtWaitAndResetNotify(never.Get(), stream.Get(), 0)));
    Mark(stream, 3);
    ASSERT_TRUE(recorder_.WaitFor(1));
    // The task before the wait may still be counted as running.
    ASSERT_TRUE(support::Eventually([&] {
        EXPECT_TRUE(IsOk(aclrtStreamStop(stream.Get())));
        return recorder_.Values().size() >= 2;
    }));
    ASSERT_TRUE(support::Eventually([&] {
        EXPECT_TRUE(IsOk(aclrtStreamStop(stream.Get())));
        return recorder_.Values().size() >= 3;
    }));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2, 3}));
}

TEST_F(StreamStopTest, LeavesWorkThatRunsOrHasNotBegun) {
    const Stream stream = MakeStream();
    EXPECT_TRUE(IsOk(aclrtStreamStop(stream.Get()))) << "nothing is queued";
    {
        const HostGate gate(stream.Get());
        Mark(stream, 1);
        ASSERT_TRUE(gate.WaitEntered());
        EXPECT_TRUE(IsOk(aclrtStreamStop(stream.Get())));
    }
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{1});
}

TEST_F(StreamStopTest, ChecksItsStream) {
    EXPECT_TRUE(
        IsError(kBadFlag, aclrtStreamStop(nullptr), {"aclrtStreamStop: ", "stream is null"}));
    Stream stream = MakeStream();
    Begin(stream.Get());
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_CAPTURED, aclrtStreamStop(stream.Get()), {"stream"}));
    const Model model = End(stream.Get());
    const aclrtStream gone = stream.Get();
    ASSERT_TRUE(IsOk(aclrtDestroyStream(stream.Release())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtStreamStop(gone), {"stream"}));
}

}  // namespace
}  // namespace conformance
