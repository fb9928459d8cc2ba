// SPDX-License-Identifier: Apache-2.0
// Replays that fail, in both failure modes, or whose stream is aborted or destroyed: what goes on,
// and who is told.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

#include "advance_step/fault_injection.h"
#include "conformance/capture_fixture.h"
#include "support/waits.h"

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
    // Queues a replay of a branch in which a task fails and the next one waits for `go`. Returns
    // when that one has begun.
    static Model QueueFailedBranch(const Stream& stream, const Stream& side, const Signal& go) {
        const Signal entered;
        Model model = Capture(stream.Get(), [&] {
            Order(stream, side);
            EXPECT_TRUE(IsOk(support::EnqueueFailure(side.Get())));
            EXPECT_TRUE(IsOk(support::Enqueue(side.Get(), [entered, go] {
                entered.Set();
                EXPECT_TRUE(go.Wait());
            })));
            Order(side, stream);
        });
        EXPECT_TRUE(IsOk(Queue(model, stream)));
        EXPECT_TRUE(entered.Wait());
        return model;
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
    const Signal go;
    const Model model = QueueFailedBranch(first, side, go);
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
    const Signal go;
    const Model model = QueueFailedBranch(first, side, go);
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

// Replays whose stream is aborted or destroyed, or that fail: what of them goes on, and who is
// told.

class ReplayAbortTest : public CaptureTest {
 protected:
    // A model whose replays stand at `go` and note with `entered` that they do.
    Model CaptureHeld(const Stream& stream) {
        return Capture(stream.Get(), [&] {
            EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [this] {
                most_ = std::max(most_.load(), ++inside_);
                entered_.Set();
                EXPECT_TRUE(go_.Wait());
                --inside_;
            })));
        });
    }

    inline static std::atomic<int> inside_{0};
    inline static std::atomic<int> most_{0};
    Signal entered_;
    Signal go_;
};

// The replay in the middle is dropped, and with it its wait for the first.
TEST_F(ReplayAbortTest, ReplaysRunOneAfterAnotherAlsoAroundADroppedOne) {
    most_ = 0;
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const Stream third = MakeStream();
    const Model model = CaptureHeld(first);
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), first.Get())));
    ASSERT_TRUE(entered_.Wait());
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), second.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamAbort(second.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(second.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_MODEL_RUNNING, aclmdlRIDestroy(model.Get())));
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), third.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                        aclrtSynchronizeStreamWithTimeout(third.Get(), support::kShort)));
    go_.Set();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(third.Get())));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(first.Get())));
    EXPECT_EQ(most_, 1);
}

// A branch that an abort finds running ends by itself, and the next replay begins only then, also
// with what comes before its own branch.
TEST_F(ReplayAbortTest, TheNextReplayWaitsForTheBranchOfADroppedOne) {
    const Stream first = MakeStream();
    const Stream branch = MakeStream();
    const Stream second = MakeStream();
    const Recorder recorder;
    const Model model = Capture(first.Get(), [&] {
        EXPECT_TRUE(IsOk(recorder.Mark(first.Get(), 1)));
        Order(first, branch);
        EXPECT_TRUE(IsOk(support::Enqueue(branch.Get(), [entered = entered_, go = go_] {
            entered.Set();
            EXPECT_TRUE(go.Wait());
        })));
        Order(branch, first);
    });
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), first.Get())));
    ASSERT_TRUE(entered_.Wait());
    ASSERT_TRUE(IsOk(aclrtStreamAbort(first.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(first.Get())));
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), second.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                        aclrtSynchronizeStreamWithTimeout(second.Get(), support::kShort)));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
    go_.Set();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(second.Get())));
    EXPECT_EQ(recorder.Values(), (std::vector<int>{1, 1}));
}

// A branch that waits for what never comes goes with the replay that it is a part of.
TEST_F(ReplayAbortTest, TheRestOfABranchIsDroppedToo) {
    const Notify never = MakeNotify();
    for (const bool destroy : {false, true}) {
        SCOPED_TRACE(destroy);
        Stream main = MakeStream();
        const Stream branch = MakeStream();
        const Recorder recorder;
        Begin(main.Get());
        Order(main, branch);
        ASSERT_TRUE(IsOk(aclrtWaitAndResetNotify(never.Get(), branch.Get(), 0)));
        ASSERT_TRUE(IsOk(recorder.Mark(branch.Get(), 1)));
        Order(branch, main);
        const Model model = End(main.Get());
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), main.Get())));
        EXPECT_TRUE(
            IsOk(destroy ? aclrtDestroyStreamForce(main.Release()) : aclrtStreamAbort(main.Get())));
        EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
        // And the next replay is not touched by that.
        const Stream other = MakeStream();
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), other.Get())));
        ASSERT_TRUE(IsOk(aclrtRecordNotify(never.Get(), nullptr)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
        EXPECT_EQ(recorder.Values(), std::vector<int>{1});
    }
}

// In failure mode 1 a branch that fails stops, with the tasks of a replay that is queued behind.
TEST_F(ReplayAbortTest, AReplayWhoseBranchWasSkippedIsNoSuccess) {
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const Stream branch = MakeStream();
    ASSERT_TRUE(IsOk(aclrtSetStreamFailureMode(first.Get(), ACL_STOP_ON_FAILURE)));
    const Recorder recorder;
    Begin(first.Get());
    Order(first, branch);
    ASSERT_TRUE(IsOk(support::EnqueueFailure(branch.Get())));
    ASSERT_TRUE(IsOk(recorder.Mark(branch.Get(), 1)));
    Order(branch, first);
    const Model model = End(first.Get());
    {
        const HostGate gate(first.Get());
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), first.Get())));
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), second.Get())));
    }
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(first.Get())));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclrtSynchronizeStream(second.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{});
}

// Two threads replay one model at a time; the first replay fails and the second does not.
TEST_F(ReplayAbortTest, EveryExecuteIsToldOfItsOwnFailure) {
    const Stream stream = MakeStream();
    const auto runs = std::make_shared<std::atomic<int>>(0);
    const Signal failed;
    const Signal go;
    const Model model = Capture(stream.Get(), [&] {
        EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [runs] {
            if (++*runs == 1) {
                throw std::runtime_error("the first one fails");
            }
        })));
        EXPECT_TRUE(IsOk(support::Enqueue(stream.Get(), [failed, go] {
            failed.Set();
            EXPECT_TRUE(go.Wait());
        })));
    });
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtGetCurrentContext(&context)));
    std::thread other([&] {
        EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, aclmdlRIExecute(model.Get(), -1)));
    });
    ASSERT_TRUE(failed.Wait());
    // Queued behind it, and given up for now.
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclmdlRIExecute(model.Get(), 5)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeDeviceWithTimeout(5)));
    go.Set();
    other.join();
    EXPECT_TRUE(IsOk(aclrtSynchronizeDevice()));
    EXPECT_EQ(*runs, 2);
}

// RELAXED: any thread may end the capture, but only one does.
TEST_F(ReplayAbortTest, OneOfTwoEndsGetsTheModel) {
    for (int round = 0; round < 200; ++round) {
        const Stream stream = MakeStream();
        Begin(stream.Get(), kRelaxed);
        aclrtContext context = nullptr;
        ASSERT_TRUE(IsOk(aclrtGetCurrentContext(&context)));
        aclmdlRI models[2] = {};
        int codes[2] = {};
        std::thread other([&] {
            EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            codes[1] = aclmdlRICaptureEnd(stream.Get(), &models[1]);
        });
        codes[0] = aclmdlRICaptureEnd(stream.Get(), &models[0]);
        other.join();
        const int winner = codes[0] == ACL_SUCCESS ? 0 : 1;
        EXPECT_EQ(codes[winner], ACL_SUCCESS);
        EXPECT_EQ(codes[1 - winner], ACL_ERROR_RT_STREAM_NOT_CAPTURED);
        EXPECT_TRUE(IsOk(aclmdlRIExecute(models[winner], -1)));
        EXPECT_TRUE(IsOk(aclmdlRIDestroy(models[winner])));
    }
}

// The dropped replay ends its own tasks in the branch, not those of the replay before it.
TEST_F(ReplayAbortTest, TheBranchOfTheReplayBeforeIsRun) {
    const Stream main = MakeStream();
    const Stream branch = MakeStream();
    const Stream other = MakeStream();
    const Recorder recorder;
    Begin(main.Get());
    Order(main, branch);
    ASSERT_TRUE(IsOk(recorder.Mark(branch.Get(), 1)));
    Order(branch, main);
    const Model model = End(main.Get());
    const support::HostGate gate(main.Get());
    ASSERT_TRUE(gate.WaitEntered());
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), main.Get())));
    ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), other.Get())));
    ASSERT_TRUE(IsOk(aclrtStreamAbort(other.Get())));
    ASSERT_TRUE(IsOk(aclrtSynchronizeStream(other.Get())));
    gate.Open();
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(main.Get())));
    EXPECT_EQ(recorder.Values(), std::vector<int>{1});
}

// The wait by which the capture joins the branch ends early. The replay ends after the branch all
// the same.
TEST_F(ReplayAbortTest, ABranchIsNotDroppedWhenTheWaitForItIsStoppedOrTooShort) {
    for (const bool stops : {true, false}) {
        const Stream first = MakeStream();
        const Stream branch = MakeStream();
        const Event joins = MakeCaptureEvent();
        const Recorder recorder;
        const Signal go;
        const Model model = Capture(first.Get(), [&] {
            Order(first, branch);
            EXPECT_TRUE(IsOk(support::Enqueue(branch.Get(), [go] { EXPECT_TRUE(go.Wait()); })));
            EXPECT_TRUE(IsOk(recorder.Mark(branch.Get(), 1)));
            EXPECT_TRUE(IsOk(aclrtRecordEvent(joins.Get(), branch.Get())));
            EXPECT_TRUE(
                IsOk(aclrtStreamWaitEventWithTimeout(first.Get(), joins.Get(), stops ? 0 : 1)));
            EXPECT_TRUE(IsOk(recorder.Mark(first.Get(), 2)));
        });
        ASSERT_TRUE(IsOk(aclmdlRIExecuteAsync(model.Get(), first.Get())));
        EXPECT_TRUE(support::Eventually([&] {
            EXPECT_TRUE(IsOk(stops ? aclrtStreamStop(first.Get()) : ACL_SUCCESS));
            return !recorder.Values().empty();
        }));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                            aclrtSynchronizeStreamWithTimeout(first.Get(), support::kShort)));
        EXPECT_TRUE(IsOk(aclrtStreamStop(first.Get())));
        EXPECT_TRUE(IsError(ACL_ERROR_RT_MODEL_RUNNING, aclmdlRIDestroy(model.Get())));
        go.Set();
        EXPECT_EQ(aclrtSynchronizeStream(first.Get()),
                  stops ? ACL_SUCCESS : ACL_ERROR_RT_WAIT_TIMEOUT);
        EXPECT_EQ(recorder.Values(), (std::vector<int>{2, 1}));
    }
}

}  // namespace
}  // namespace conformance
