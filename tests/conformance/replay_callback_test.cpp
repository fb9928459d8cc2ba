// SPDX-License-Identifier: Apache-2.0
// Callbacks in models: the thread that runs them, and calls by that thread.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "conformance/callback_fixture.h"
#include "conformance/captures.h"

namespace conformance {
namespace {

class ReplayCallbackTest : public CallbackTest {
 protected:
    // Marks 1, marks 2 in a callback, marks 3.
    Model CaptureCallback(aclrtCallbackBlockType type, const Stream& stream) {
        return Capture(stream.Get(), [&] {
            EXPECT_TRUE(IsOk(recorder_.Mark(stream.Get(), 1)));
            EXPECT_TRUE(IsOk(LaunchMark(2, type, stream)));
            EXPECT_TRUE(IsOk(recorder_.Mark(stream.Get(), 3)));
        });
    }
};

TEST_F(ReplayCallbackTest, ExecuteByTheThreadOfTheCallbackQueuesNothing) {
    const Stream stream = MakeStream();
    Subscribe(stream);
    Model model = CaptureCallback(kBlock, stream);
    for (const int timeout : {-1, kLong}) {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclmdlRIExecute(model.Get(), timeout),
                            {"aclmdlRIExecute: ", "modelRI", "aclrtProcessReport"}));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_RT_REPORT_TIMEOUT, aclrtProcessReport(kShort)));
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtGetCurrentContext(&context)));
    std::thread other([&] {
        EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        EXPECT_TRUE(IsOk(aclmdlRIExecute(model.Get(), -1)));
    });
    EXPECT_TRUE(IsOk(aclrtProcessReport(kLong)));
    other.join();
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2, 3}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclmdlRIExecute(model.Get(), -1)));
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model.Release()))) << "no replay is queued";
    Unsubscribe(stream);
}

TEST_F(ReplayCallbackTest, ExecuteByTheThreadOfACallbackThatNothingWaitsFor) {
    const Stream stream = MakeStream();
    Subscribe(stream);
    const Model model = CaptureCallback(kNoBlock, stream);
    EXPECT_TRUE(IsOk(aclmdlRIExecute(model.Get(), -1)));
    EXPECT_TRUE(IsOk(aclrtProcessReport(kLong)));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 3, 2}));
    Unsubscribe(stream);
}

// The captured stream may be destroyed, or its subscription may end. Then the callbacks go to the
// thread that is subscribed to the stream of the replay.
TEST_F(ReplayCallbackTest, DoesWithoutTheCapturedStream) {
    Stream captured = MakeStream();
    const Stream side = MakeStream();
    const Stream stream = MakeStream();
    Subscribe(captured);
    Subscribe(side);
    const Model model = Capture(captured.Get(), [&] {
        EXPECT_TRUE(IsOk(LaunchMark(1, kBlock, captured)));
        Order(captured, side);
        EXPECT_TRUE(IsOk(LaunchMark(2, kBlock, side)));
        Order(side, captured);
    });
    const auto replay = [&] {
        EXPECT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), stream.Get())));
        EXPECT_TRUE(IsOk(aclrtProcessReport(kLong)));
        EXPECT_TRUE(IsOk(aclrtProcessReport(kLong)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    };
    replay();
    Unsubscribe(captured);
    Subscribe(stream);
    replay();
    EXPECT_TRUE(IsOk(aclrtDestroyStream(captured.Release())));
    Unsubscribe(side);
    replay();
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2, 1, 2, 1, 2}));
    Unsubscribe(stream);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_NO_CB_REG, Replay(model, stream),
                        {"aclrtSynchronizeStream: ", "aclrtLaunchCallback"}));
}

// The model's streams for aclmdlRIExecute have no subscription of their own.
TEST_F(ReplayCallbackTest, ExecuteNeedsASubscriptionToTheCapturedStream) {
    const Stream captured = MakeStream();
    Subscribe(captured);
    const Model model = CaptureCallback(kBlock, captured);
    Unsubscribe(captured);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_NO_CB_REG, aclmdlRIExecute(model.Get(), -1),
                        {"aclmdlRIExecute: "}));
}

}  // namespace
}  // namespace conformance
