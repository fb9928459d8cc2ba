// SPDX-License-Identifier: Apache-2.0
// Captures that a stream could not join: nothing but their end is left.
#include <gtest/gtest.h>

#include "conformance/capture_fixture.h"

namespace conformance {
namespace {

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

TEST_F(InvalidatedTest, HasNoModel) {
    int place = 0;
    aclmdlRICaptureStatus status = kNone;
    aclmdlRI model = &place;
    EXPECT_TRUE(IsOk(aclmdlRICaptureGetInfo(stream_.Get(), &status, &model)));
    EXPECT_EQ(status, kInvalidated);
    EXPECT_EQ(model, nullptr);
}

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
