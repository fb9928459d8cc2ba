// SPDX-License-Identifier: Apache-2.0
// Captures of several streams that cannot be ended before every stream has been joined.
#include <gtest/gtest.h>

#include "conformance/capture_fixture.h"

namespace conformance {
namespace {

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

}  // namespace
}  // namespace conformance
