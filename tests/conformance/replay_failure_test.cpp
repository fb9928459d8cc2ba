// SPDX-License-Identifier: Apache-2.0
// Tasks of a replay that fail, in both failure modes.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>

#include "advance_step/fault_injection.h"
#include "conformance/capture_fixture.h"

namespace conformance {
namespace {

class ReplayFailureTest : public CaptureTest {
 protected:
    // Marks 1, fails, marks 2.
    Model CaptureFailure() const {
        const Stream stream = MakeStream();
        return Capture(stream.Get(), [&] {
            EXPECT_TRUE(IsOk(recorder_.Mark(stream.Get(), 1)));
            EXPECT_TRUE(IsOk(support::EnqueueFailure(stream.Get())));
            EXPECT_TRUE(IsOk(recorder_.Mark(stream.Get(), 2)));
        });
    }
};

TEST_F(ReplayFailureTest, IsReportedOnceAndLaterTasksRun) {
    const Stream stream = MakeStream();
    const Model model = CaptureFailure();
    ASSERT_TRUE(IsOk(Queue(model, stream)));
    ASSERT_TRUE(IsOk(recorder_.Mark(stream.Get(), 3)));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get()),
                        {"aclrtSynchronizeStream: "}));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2, 3}));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, Replay(model, stream))) << "again in each replay";
}

TEST_F(ReplayFailureTest, ModeStopSkipsTheRestAndWhatIsBehind) {
    const Stream stream = MakeStream();
    const Model model = CaptureFailure();
    ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(Queue(model, stream)));
        ASSERT_TRUE(IsOk(recorder_.Mark(stream.Get(), 3)));
        ASSERT_TRUE(IsOk(Queue(model, stream)));
    }
    ASSERT_TRUE(support::Eventually([&] { return Queue(model, stream) == ACL_ERROR_FAILURE; }))
        << "new replays are refused";
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, Queue(model, stream), {"aclmdlRIExecuteAsync: "}));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{1});
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, Replay(model, stream)));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 1}));
}

// A branch that fails is a failure of the stream that replays. As with streams, ACL_STOP_ON_FAILURE
// stops the branch, and who waits for it goes on.
TEST_F(ReplayFailureTest, OfABranch) {
    for (const uint64_t mode : {ACL_CONTINUE_ON_FAILURE, ACL_STOP_ON_FAILURE}) {
        SCOPED_TRACE(mode);
        const Stream stream = MakeStream();
        const Stream side = MakeStream();
        ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(stream.Get(), mode)));
        const Recorder recorder;
        const Model model = Capture(stream.Get(), [&] {
            Order(stream, side);
            EXPECT_TRUE(IsOk(support::EnqueueFailure(side.Get())));
            EXPECT_TRUE(IsOk(recorder.Mark(side.Get(), 1)));
            Order(side, stream);
            EXPECT_TRUE(IsOk(recorder.Mark(stream.Get(), 2)));
        });
        for (int i = 0; i < 10; ++i) {
            ASSERT_TRUE(IsError(ACL_ERROR_FAILURE, Replay(model, stream)));
            ASSERT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
            EXPECT_TRUE(IsOk(aclrtSynchronizeStream(side.Get()))) << "it is no failure of this one";
        }
        std::vector<int> expected;
        for (int i = 0; i < 10; ++i) {
            if (mode == ACL_CONTINUE_ON_FAILURE) {
                expected.push_back(1);
            }
            expected.push_back(2);
        }
        EXPECT_EQ(recorder.Values(), expected);
    }
}

// What is queued behind the replay is skipped, as behind a task that fails.
TEST_F(ReplayFailureTest, OfABranchStopsTheStreamBehindTheReplay) {
    const Stream stream = MakeStream();
    const Stream side = MakeStream();
    ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    const Model model = Capture(stream.Get(), [&] {
        Order(stream, side);
        EXPECT_TRUE(IsOk(support::EnqueueFailure(side.Get())));
        Order(side, stream);
    });
    {
        const HostGate gate(stream.Get());
        ASSERT_TRUE(IsOk(Queue(model, stream)));
        ASSERT_TRUE(IsOk(recorder_.Mark(stream.Get(), 3)));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(stream.Get())));
    EXPECT_EQ(recorder_.Values(), std::vector<int>{});
}

// A replay that is dropped ends early, but takes no failure of the replay before it along.
TEST_F(ReplayFailureTest, OfABranchIsNotTakenByADroppedReplay) {
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const Stream side = MakeStream();
    const Signal entered;
    const Signal go;
    const Model model = Capture(first.Get(), [&] {
        Order(first, side);
        EXPECT_TRUE(IsOk(support::EnqueueFailure(side.Get())));
        EXPECT_TRUE(IsOk(support::Enqueue(side.Get(), [entered, go] {
            entered.Set();
            EXPECT_TRUE(go.Wait());
        })));
        Order(side, first);
    });
    ASSERT_TRUE(IsOk(Queue(model, first)));
    ASSERT_TRUE(entered.Wait());
    ASSERT_TRUE(IsOk(Queue(model, second)));
    ASSERT_TRUE(IsOk(aclrtStreamAbort(second.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(second.Get()))) << "nothing of it has failed";
    go.Set();
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(first.Get())));
}

// What has failed before the replay is dropped is told, though the branch is still running.
TEST_F(ReplayFailureTest, OfABranchIsToldByItsDroppedReplay) {
    const Stream first = MakeStream();
    const Stream side = MakeStream();
    const Signal entered;
    const Signal go;
    const Model model = Capture(first.Get(), [&] {
        Order(first, side);
        EXPECT_TRUE(IsOk(support::EnqueueFailure(side.Get())));
        EXPECT_TRUE(IsOk(support::Enqueue(side.Get(), [entered, go] {
            entered.Set();
            EXPECT_TRUE(go.Wait());
        })));
        Order(side, first);
    });
    ASSERT_TRUE(IsOk(Queue(model, first)));
    ASSERT_TRUE(entered.Wait());
    ASSERT_TRUE(IsOk(aclrtStreamAbort(first.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(first.Get())));
    go.Set();
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
}

// What a dropped replay's branch was running may still fail, which the next replay has no part in.
TEST_F(ReplayFailureTest, OfADroppedReplayIsNotToldToTheNext) {
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const Stream side = MakeStream();
    const Signal entered;
    const Signal go;
    const auto runs = std::make_shared<std::atomic<int>>(0);
    const Model model = Capture(first.Get(), [&] {
        Order(first, side);
        EXPECT_TRUE(IsOk(support::Enqueue(side.Get(), [entered, go, runs] {
            entered.Set();
            EXPECT_TRUE(go.Wait());
            if (++*runs == 1) {
                throw std::runtime_error("the first one fails");
            }
        })));
        Order(side, first);
    });
    ASSERT_TRUE(IsOk(Queue(model, first)));
    ASSERT_TRUE(entered.Wait());
    ASSERT_TRUE(IsOk(aclrtStreamAbort(first.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(first.Get())));
    ASSERT_TRUE(IsOk(Queue(model, second)));
    go.Set();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(second.Get())));
    EXPECT_EQ(*runs, 2);
}

// The branch of the second replay is skipped because the first one failed there. The third replay,
// whose branch comes after it, is aborted.
TEST_F(ReplayFailureTest, OfABranchIsToldBesideAnAbortedReplay) {
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const Stream third = MakeStream();
    const Stream side = MakeStream();
    ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(first.Get(), ACL_STOP_ON_FAILURE)));
    const Signal go;
    const Model model = Capture(first.Get(), [&] {
        Order(first, side);
        EXPECT_TRUE(IsOk(support::EnqueueFailure(side.Get())));
        Order(side, first);
        EXPECT_TRUE(IsOk(support::Enqueue(first.Get(), [go] { EXPECT_TRUE(go.Wait()); })));
    });
    static std::atomic<bool> failed;
    failed = false;
    // It is called when the branch has stopped.
    ASSERT_TRUE(IsOk(aclrtSetExceptionInfoCallback([](aclrtExceptionInfo*) { failed = true; })));
    {
        const HostGate gate(first.Get());
        ASSERT_TRUE(IsOk(Queue(model, first)));
        ASSERT_TRUE(IsOk(Queue(model, second)));
    }
    EXPECT_TRUE(support::Eventually([] { return failed.load(); }));
    ASSERT_TRUE(IsOk(Queue(model, third)));
    EXPECT_TRUE(IsOk(aclrtStreamAbort(third.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(third.Get())));
    go.Set();
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(first.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(second.Get())));
    EXPECT_TRUE(IsOk(aclrtSetExceptionInfoCallback(nullptr)));
}

TEST_F(ReplayFailureTest, OfExecuteIsItsCode) {
    const Stream stream = MakeStream();
    const Model model = CaptureFailure();
    EXPECT_TRUE(
        IsError(ACL_ERROR_FAILURE, aclmdlRIExecute(model.Get(), -1), {"aclmdlRIExecute: "}));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclmdlRIExecute(model.Get(), 60000)));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 2, 1, 2}));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice())) << "it has been told";
}

TEST_F(ReplayFailureTest, OfExecuteStopsTheReplayInModeStop) {
    const Stream stream = MakeStream();
    const Model model = CaptureFailure();
    ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(stream.Get(), ACL_STOP_ON_FAILURE)));
    for (int i = 1; i <= 3; ++i) {
        EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclmdlRIExecute(model.Get(), -1)));
        EXPECT_EQ(recorder_.Values(), std::vector<int>(static_cast<size_t>(i), 1));
    }
}

TEST_F(ReplayFailureTest, DoesNotReachOtherStreams) {
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const Model model = CaptureFailure();
    ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(first.Get(), ACL_STOP_ON_FAILURE)));
    ASSERT_TRUE(IsOk(Queue(model, first)));
    ASSERT_TRUE(IsOk(Queue(model, second)));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(second.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(first.Get())));
    EXPECT_EQ(recorder_.Values(), (std::vector<int>{1, 1}));
}

// An execution that cannot even word its code counts as ended, too.
TEST_F(ReplayFailureTest, AnExecutionWithoutMemoryDoesNotKeepTheModel) {
    const Stream stream = MakeStream();
    const Signal go;
    Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [go] { EXPECT_TRUE(go.Wait()); })));
    });
    AdvStepFaultCounts counts{};
    int refused = 0;
    // The last call of the first round has made what is allocated once, such as a worker.
    for (int round = 0; round < 2; ++round) {
        uint64_t allocation = 0;
        do {
            EXPECT_TRUE(IsOk(advstepFailAllocations(ADVSTEP_ALLOCATION_INTERNAL, ++allocation, 1)));
            const int code = aclmdlRIExecute(model.Get(), 1);
            EXPECT_TRUE(IsOk(advstepReadFaultCounts(&counts)));
            EXPECT_TRUE(code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT ||
                        (code == ACL_ERROR_BAD_ALLOC && counts.failedAllocations > 0))
                << code << ", allocation " << allocation;
            refused += code == ACL_ERROR_BAD_ALLOC ? 1 : 0;
        } while (counts.failedAllocations > 0);
    }
    EXPECT_GT(refused, 0);
    EXPECT_TRUE(IsOk(advstepClearFaults()));
    go.Set();
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model.Release())));
}

}  // namespace
}  // namespace conformance
