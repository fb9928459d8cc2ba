// SPDX-License-Identifier: Apache-2.0
// Captures of several streams: forks and joins by events, and those that cannot be ended.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/capture_fixture.h"

namespace conformance {
namespace {

TEST_F(CaptureStreamsTest, ForkAndJoin) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    Begin(stream.Get());
    Mark(stream, 0);
    Order(stream, side);
    Mark(side, 1);
    Mark(stream, 2);
    Order(side, stream);
    Mark(stream, 3);
    const Model model = End(stream.Get());
    ExpectReplays(model, stream, 4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
}

// The branches need each other: they run at the same time, as the streams would.
TEST_F(CaptureStreamsTest, BranchesRunIndependently) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    const Signal one;
    const Signal two;
    Begin(stream.Get());
    Order(stream, side);
    ASSERT_TRUE(IsOk(support::Enqueue(side.Get(), [=] {
        one.Set();
        EXPECT_TRUE(two.Wait());
    })));
    ASSERT_TRUE(IsOk(support::Enqueue(stream.Get(), [=] {
        two.Set();
        EXPECT_TRUE(one.Wait());
    })));
    Order(side, stream);
    const Model model = End(stream.Get());
    EXPECT_TRUE(IsOk(Replay(model, stream)));
    EXPECT_TRUE(one.IsSet() && two.IsSet());
}

TEST_F(CaptureStreamsTest, JoinsThroughOtherStreams) {
    const Stream stream = MakeStream();
    const Stream second = MakeStream();
    const Stream third = MakeStream();
    Begin(stream.Get());
    Mark(stream, 0);
    Order(stream, second);
    Mark(second, 1);
    Order(second, third);
    Mark(third, 2);
    EXPECT_EQ(StatusOf(third.Get()), kActive);
    Order(third, second);
    Mark(second, 3);
    Order(second, stream);
    Mark(stream, 4);
    const Model model = End(stream.Get());
    ExpectReplays(model, stream, 5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
}

TEST_F(CaptureStreamsTest, Chain) {
    const Stream stream = MakeStream();
    std::vector<Stream> chain;
    Begin(stream.Get());
    Mark(stream, 0);
    for (int i = 1; i <= 10; ++i) {
        chain.push_back(MakeStream());
        Order(i == 1 ? stream : chain[static_cast<size_t>(i) - 2], chain.back());
        Mark(chain.back(), i);
    }
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_UNJOINED, TryEnd(stream.Get())));
    Order(chain.back(), stream);
    Mark(stream, 11);
    const Model model = End(stream.Get());
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < 11; ++i) {
        pairs.emplace_back(i, i + 1);
    }
    ExpectReplays(model, stream, 12, pairs);
}

TEST_F(CaptureStreamsTest, Diamond) {
    const Stream stream = MakeStream();
    const Stream left = MakeStream();
    const Stream right = MakeStream();
    const Stream bottom = MakeStream();
    Begin(stream.Get());
    Mark(stream, 0);
    Order(stream, left);
    Order(stream, right);
    Mark(left, 1);
    Mark(right, 2);
    Order(left, bottom);
    Order(right, bottom);
    Mark(bottom, 3);
    Order(bottom, stream);
    Mark(stream, 4);
    const Model model = End(stream.Get());
    ExpectReplays(model, stream, 5, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}});
}

TEST_F(CaptureStreamsTest, ManyBranchesOfOneRecord) {
    constexpr int kBranches = 16;
    const Stream stream = MakeStream();
    const Event fork = MakeCaptureEvent();
    std::vector<Stream> sides;
    std::vector<std::pair<int, int>> pairs;
    Begin(stream.Get());
    Mark(stream, 0);
    ASSERT_TRUE(IsOk(aclrtRecordEvent(fork.Get(), stream.Get())));
    for (int i = 1; i <= kBranches; ++i) {
        sides.push_back(MakeStream());
        ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(sides.back().Get(), fork.Get())));
        Mark(sides.back(), i);
        pairs.emplace_back(0, i);
        pairs.emplace_back(i, kBranches + 1);
    }
    for (const Stream& side : sides) {
        Order(side, stream);
    }
    Mark(stream, kBranches + 1);
    const Model model = End(stream.Get());
    ExpectReplays(model, stream, kBranches + 2, pairs);
}

// The same two streams and the same two events, forked and joined over and over.
TEST_F(CaptureStreamsTest, ForksAgain) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    const Event fork = MakeCaptureEvent();
    const Event join = MakeCaptureEvent();
    std::vector<std::pair<int, int>> pairs;
    Begin(stream.Get());
    for (int i = 0; i < 30; i += 3) {
        Mark(stream, i);
        ASSERT_TRUE(IsOk(aclrtRecordEvent(fork.Get(), stream.Get())));
        ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(side.Get(), fork.Get())));
        Mark(side, i + 1);
        ASSERT_TRUE(IsOk(aclrtRecordEvent(join.Get(), side.Get())));
        ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(stream.Get(), join.Get())));
        Mark(stream, i + 2);
        pairs.insert(pairs.end(), {{i, i + 1}, {i + 1, i + 2}});
        if (i > 0) {
            pairs.emplace_back(i - 1, i);
        }
    }
    const Model model = End(stream.Get());
    ExpectReplays(model, stream, 30, pairs);
}

// An event waited for after it has been recorded again: the latest record at the time of the call.
TEST_F(CaptureStreamsTest, AWaitIsForTheLatestRecord) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    const Event event = MakeCaptureEvent();
    Begin(stream.Get());
    Mark(stream, 0);
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    Mark(stream, 1);
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), stream.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(side.Get(), event.Get())));
    Mark(side, 2);
    Order(side, stream);
    const Model model = End(stream.Get());
    ExpectReplays(model, stream, 3, {{0, 1}, {1, 2}});
}

TEST_F(CaptureStreamsTest, AStreamWaitsForItsOwnRecord) {
    const Stream stream = MakeStream();
    Begin(stream.Get());
    Mark(stream, 0);
    Order(stream, stream);
    Mark(stream, 1);
    const Model model = End(stream.Get());
    ExpectReplays(model, stream, 2, {{0, 1}});
}

// A stream joins with work that it got before; that work is no part of the capture.
TEST_F(CaptureStreamsTest, JoinsWithPendingWork) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    const Recorder before;
    {
        const HostGate gate(side.Get());
        ASSERT_TRUE(IsOk(before.Mark(side.Get(), 7)));
        Begin(stream.Get());
        Order(stream, side);
        Mark(side, 0);
        Order(side, stream);
    }
    const Model model = End(stream.Get());
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(side.Get())));
    EXPECT_EQ(before.Values(), std::vector<int>{7});
    ExpectReplays(model, stream, 1, {});
    EXPECT_EQ(before.Values(), std::vector<int>{7});
}

TEST_F(CaptureStreamsTest, TheEndReleasesEveryStream) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    const Recorder direct;
    Begin(stream.Get());
    Order(stream, side);
    Mark(side, 0);
    Order(side, stream);
    const Model model = End(stream.Get());
    EXPECT_EQ(StatusOf(stream.Get()), kNone);
    EXPECT_EQ(StatusOf(side.Get()), kNone);
    ASSERT_TRUE(IsOk(direct.Mark(side.Get(), 1)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(side.Get())));
    EXPECT_EQ(direct.Values(), std::vector<int>{1});
    ExpectReplays(model, side, 1, {});
}

// The side stream is not needed for a replay: a replay runs though that stream is held.
TEST_F(CaptureStreamsTest, AReplayDoesNotUseTheCapturedStreams) {
    const Stream stream = MakeStream();
    const Stream other = MakeStream();
    Stream side = MakeStream();
    Begin(stream.Get());
    Order(stream, side);
    Mark(side, 0);
    Order(side, stream);
    const Model model = End(stream.Get());
    {
        const HostGate gate(side.Get());
        const HostGate own(stream.Get());
        ASSERT_TRUE(gate.WaitEntered());
        ASSERT_TRUE(own.WaitEntered());
        EXPECT_TRUE(IsOk(Replay(model, other)));
        EXPECT_EQ(recorder_.Values(), std::vector<int>{0});
    }
    EXPECT_TRUE(IsOk(aclrtDestroyStream(side.Release())));
    EXPECT_TRUE(IsOk(Replay(model, other)));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{0, 0}));
}

// Later work of the replaying stream waits for every branch.
TEST_F(CaptureStreamsTest, AReplayEndsWhenEveryBranchHas) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    Begin(stream.Get());
    Order(stream, side);
    for (int i = 0; i < 10; ++i) {
        Mark(side, 1);
    }
    Order(side, stream);
    const Model model = End(stream.Get());
    for (int i = 0; i < kReplays; ++i) {
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
        Mark(stream, 2);
    }
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    const std::vector<int> values = recorder_.Values();
    ASSERT_EQ(values.size(), 11U * kReplays);
    for (size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(values[i], i % 11 == 10 ? 2 : 1) << i;
    }
}

// Captures of several streams that cannot be ended before every stream has been joined.

TEST_F(CaptureStreamsTest, UnjoinedIsRefusedUntilJoined) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    Begin(stream.Get());
    Mark(stream, 0);
    Order(stream, side);
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_STREAM_UNJOINED, TryEnd(stream.Get()), {"aclmdlRICaptureEnd: "}))
        << "also without work";
    EXPECT_EQ(StatusOf(stream.Get()), kActive);
    Mark(side, 1);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_UNJOINED, TryEnd(stream.Get())));
    Order(side, stream);
    const Model model = End(stream.Get());
    ExpectReplays(model, stream, 2, {{0, 1}});
}

TEST_F(CaptureStreamsTest, WorkAfterTheJoinIsUnjoined) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    Begin(stream.Get());
    Order(stream, side);
    Mark(side, 0);
    Order(side, stream);
    Mark(side, 1);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_UNJOINED, TryEnd(stream.Get())));
    Order(side, stream);
    const Model model = End(stream.Get());
    ExpectReplays(model, stream, 2, {{0, 1}});
}

// The wait is for the record, not for what the stream gets behind it.
TEST_F(CaptureStreamsTest, WorkBehindTheRecordIsUnjoined) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    const Event event = MakeCaptureEvent();
    Begin(stream.Get());
    Order(stream, side);
    Mark(side, 0);
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), side.Get())));
    Mark(side, 1);
    ASSERT_TRUE(IsOk(aclrtStreamWaitEvent(stream.Get(), event.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_UNJOINED, TryEnd(stream.Get())));
    Order(side, stream);
    const Model model = End(stream.Get());
    ExpectReplays(model, stream, 2, {{0, 1}});
}

TEST_F(CaptureStreamsTest, OneMissingJoinOfManyIsFound) {
    const Stream stream = MakeStream();
    std::vector<Stream> sides;
    Begin(stream.Get());
    for (int i = 0; i < 4; ++i) {
        sides.push_back(MakeStream());
        Order(stream, sides.back());
        Mark(sides.back(), i);
    }
    for (const size_t i : {0U, 1U, 3U}) {
        Order(sides[i], stream);
    }
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_UNJOINED, TryEnd(stream.Get())));
    Order(sides[2], stream);
    const Model model = End(stream.Get());
    ExpectReplays(model, stream, 4, {});
}

// Captures that a stream could not join: nothing but their end is left.

// A stream that has stopped on a failure cannot join.
class InvalidatedTest : public CaptureTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(CaptureTest::SetUp());
        stream_ = MakeStream();
        stopped_ = MakeStream();
        ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(stopped_.Get(), ACL_STOP_ON_FAILURE)));
        ASSERT_TRUE(IsOk(support::EnqueueFailure(stopped_.Get())));
        ASSERT_TRUE(support::Eventually(
            [this] { return recorder_.Mark(stopped_.Get(), -1) == ACL_ERROR_FAILURE; }));
        Begin(stream_.Get());
        ASSERT_TRUE(IsOk(recorder_.Mark(stream_.Get(), 1)));
        event_ = MakeCaptureEvent();
        ASSERT_TRUE(IsOk(aclrtRecordEvent(event_.Get(), stream_.Get())));
        ExpectCannotJoin(event_);
        ASSERT_EQ(StatusOf(stream_.Get()), kInvalidated);
    }
    void TearDown() override {
        aclmdlRI none = nullptr;
        aclmdlRICaptureEnd(stream_.Get(), &none);
        stream_ = Stream();
        EXPECT_EQ(aclrtSynchronizeStream(stopped_.Get()), ACL_ERROR_FAILURE);
        stopped_ = Stream();
        event_ = Event();
        aclGetRecentErrMsg();
    }
    // The stream that has stopped answers with its failure.
    void ExpectCannotJoin(const Event& event) const {
        EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtStreamWaitEvent(stopped_.Get(), event.Get())));
    }
    static void ExpectInvalidated(aclError status) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, status));
    }

    Stream stream_, stopped_;
    Event event_;
};

TEST_F(InvalidatedTest, HasNoModel) { ExpectNoModel(stream_, kInvalidated); }

TEST_F(InvalidatedTest, TheStreamThatCouldNotJoinIsNotCaptured) {
    EXPECT_EQ(StatusOf(stopped_.Get()), kNone);
}

TEST_F(InvalidatedTest, EndsWithoutAResult) {
    aclmdlRI model = nullptr;
    ExpectInvalidated(aclmdlRICaptureEnd(stream_.Get(), &model));
    EXPECT_EQ(model, nullptr);
    EXPECT_EQ(StatusOf(stream_.Get()), kNone);
    EXPECT_TRUE(IsOk(recorder_.Mark(stream_.Get(), 2)));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream_.Get())));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{2});
    const Model next =
        Capture(stream_.Get(), [&] { EXPECT_TRUE(IsOk(recorder_.Mark(stream_.Get(), 3))); });
    EXPECT_TRUE(IsOk(Replay(next, stream_)));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{2, 3}));
}

TEST_F(InvalidatedTest, TakesNoWork) {
    const Event event = MakeCaptureEvent();
    const DeviceBuffer device(64);
    const PinnedArray<char> pinned(64);
    const Notify notify = MakeNotify();
    ExpectInvalidated(recorder_.Mark(stream_.Get(), 2));
    ExpectInvalidated(aclrtRecordEvent(event.Get(), stream_.Get()));
    ExpectInvalidated(aclrtStreamWaitEvent(stream_.Get(), event_.Get()));
    ExpectInvalidated(aclrtMemsetAsync(device.Get(), 64, 0, 64, stream_.Get()));
    ExpectInvalidated(aclrtMemcpyAsync(device.Get(), 64, pinned.Get(), 64,
                                       ACL_MEMCPY_HOST_TO_DEVICE, stream_.Get()));
    ExpectInvalidated(aclrtRecordNotify(notify.Get(), stream_.Get()));
    ExpectInvalidated(aclrtWaitAndResetNotify(notify.Get(), stream_.Get(), 0));
    ExpectInvalidated(aclrtValueWrite(device.Get(), 1, 0, stream_.Get()));
    ExpectInvalidated(aclrtValueWait(device.Get(), 1, ACL_STREAM_WAIT_VALUE_EQ, stream_.Get()));
}

TEST_F(InvalidatedTest, TakesNoOtherCall) {
    aclrtTaskGrp group = nullptr;
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    ExpectInvalidated(aclmdlRICaptureBegin(stream_.Get(), kGlobal));
    ExpectInvalidated(aclmdlRICaptureTaskGrpBegin(stream_.Get()));
    ExpectInvalidated(aclmdlRICaptureTaskGrpEnd(stream_.Get(), &group));
    ExpectInvalidated(aclrtSynchronizeStream(stream_.Get()));
    ExpectInvalidated(aclrtSynchronizeStreamWithTimeout(stream_.Get(), -1));
    ExpectInvalidated(aclrtStreamQuery(stream_.Get(), &status));
    ExpectInvalidated(aclrtStreamAbort(stream_.Get()));
    ExpectInvalidated(aclrtDestroyStream(stream_.Get()));
    ExpectInvalidated(aclrtDestroyStreamForce(stream_.Get()));
    EXPECT_EQ(status, ACL_STREAM_STATUS_RESERVED);
}

// A stream that joined before the invalidation is invalidated with the rest.
TEST_F(InvalidatedTest, ReachesEveryStream) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    const Event event = MakeCaptureEvent();
    Begin(stream.Get());
    Order(stream, side);
    ASSERT_TRUE(IsOk(aclrtRecordEvent(event.Get(), side.Get())));
    ExpectCannotJoin(event);
    EXPECT_EQ(StatusOf(stream.Get()), kInvalidated);
    EXPECT_EQ(StatusOf(side.Get()), kInvalidated);
    ExpectInvalidated(recorder_.Mark(side.Get(), 1));
    ExpectInvalidated(TryEnd(stream.Get()));
    EXPECT_EQ(StatusOf(side.Get()), kNone);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(side.Get())));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{});
}

}  // namespace
}  // namespace conformance
