// SPDX-License-Identifier: Apache-2.0
// Captured waits with a timeout, at the beginning of a branch: their time begins with the replay.
#include <gtest/gtest.h>

#include <vector>

#include "conformance/capture_fixture.h"

namespace conformance {
namespace {

class ReplayTimeoutTest : public CaptureTest {
 protected:
    // The branch marks 1, after a wait of at most 1 s for the beginning of the model.
    Model CaptureTimedBranch(const Stream& stream, const Signal& go) const {
        const Stream side = MakeStream();
        const Event begins = MakeCaptureEvent();
        return Capture(stream.Get(), [&] {
            EXPECT_TRUE(IsOk(aclrtRecordEvent(begins.Get(), stream.Get())));
            EXPECT_TRUE(IsOk(aclrtStreamWaitEventWithTimeout(side.Get(), begins.Get(), 1)));
            EXPECT_TRUE(IsOk(recorder_.Mark(side.Get(), 1)));
            Order(side, stream);
            EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [go] { EXPECT_TRUE(go.Wait()); })));
            EXPECT_TRUE(IsOk(recorder_.Mark(stream.Get(), 2)));
        });
    }
    Model CaptureTimedBranch(const Stream& stream) const {
        const Signal go;
        go.Set();
        return CaptureTimedBranch(stream, go);
    }
    // Returns when the time of the waits that were queued before is over.
    static void ExpectExpiry() {
        const Stream stream = MakeStream();
        const Notify never = MakeNotify();
        EXPECT_TRUE(IsOk(aclrtWaitAndResetNotify(never.Get(), stream.Get(), 1)));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_WAIT_TIMEOUT, aclrtSynchronizeStream(stream.Get())));
    }
};

TEST_F(ReplayTimeoutTest, TheTimeBeginsAfterEarlierWorkOfTheStream) {
    const Stream captured = MakeStream();
    const Stream stream = MakeStream();
    const Model model = CaptureTimedBranch(captured);
    const HostGate gate(stream.Get());
    Mark(stream, 0);
    ASSERT_TRUE(IsOk(Queue(model, stream)));
    ExpectExpiry();
    EXPECT_EQ(recorder_.Values(), std::vector<int>{});
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{0, 1, 2}));
}

TEST_F(ReplayTimeoutTest, TheTimeBeginsAfterTheReplayBefore) {
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const Signal go;
    const Model model = CaptureTimedBranch(first, go);
    for (const Stream* stream : {&first, &first, &second}) {
        ASSERT_TRUE(IsOk(Queue(model, *stream)));
    }
    ExpectExpiry();
    go.Set();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(first.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(second.Get())));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2, 1, 2, 1, 2}));
}

// The replay behind the gate is dropped with its branch, and leaves the next one alone.
TEST_F(ReplayTimeoutTest, ADroppedReplayDoesNotBegin) {
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const Model model = CaptureTimedBranch(first);
    const HostGate gate(first.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(Queue(model, first)));
    ASSERT_TRUE(IsOk(Queue(model, second)));
    ASSERT_TRUE(IsOk(aclrtStreamAbort(first.Get())));
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(first.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(second.Get())));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2}));
}

}  // namespace
}  // namespace conformance
