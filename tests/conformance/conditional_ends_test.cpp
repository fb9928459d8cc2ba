// SPDX-License-Identifier: Apache-2.0
// Conditional tasks of several replays, of which some are dropped, stopped or aborted meanwhile.
#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "conformance/conditional_fixture.h"
#include "support/waits.h"

namespace conformance {
namespace {

using namespace std::chrono_literals;

class ConditionalEndsTest : public ConditionalTest {
 protected:
    static constexpr int kTimes = 3;  // of the loop

    // A loop that stands at a notify each time, as the values 0, 1, 1, 1, 99.
    Model CaptureLoop(const Stream& stream, const Notify& notify) {
        Begin(stream.Get(), kRelaxed);
        Mark(stream, 0);
        const aclmdlRICondHandle handle = MakeCondition(stream, kTimes);
        uint64_t* const variable = Variable(handle);
        Add(stream, handle, kWhile, {[&](const Stream& body) {
                Mark(body, 1);
                EXPECT_TRUE(IsOk(aclrtWaitAndResetNotify(notify.Get(), body.Get(), 0)));
                CountDown(body, variable);
            }});
        Mark(stream, 99);
        return End(stream.Get());
    }

    // Lets a loop go on to its end; its first time has begun.
    void Finish(const Notify& notify, const Stream& side, size_t valuesBefore) {
        for (int time = 1; time <= kTimes; ++time) {
            ASSERT_TRUE(recorder_.WaitFor(valuesBefore + 1 + static_cast<size_t>(time)));
            ASSERT_TRUE(IsOk(aclrtRecordNotify(notify.Get(), side.Get())));
            ASSERT_TRUE(IsOk(aclrtSynchronizeStream(side.Get())));
        }
    }
};

constexpr int kWhole[] = {0, 1, 1, 1, 99};

TEST_F(ConditionalEndsTest, ADroppedReplayLeavesAnothersLoopAlone) {
    const Stream first = MakeStream();
    const Stream side = MakeStream();
    const Notify notify = MakeNotify();
    const Model model = CaptureLoop(first, notify);
    for (const bool destroys : {false, true}) {
        Stream second = MakeStream();
        const size_t before = recorder_.Values().size();
        ASSERT_TRUE(IsOk(Queue(model, first)));
        ASSERT_TRUE(recorder_.WaitFor(before + 2));
        ASSERT_TRUE(IsOk(Queue(model, second)));
        if (destroys) {
            ASSERT_TRUE(IsOk(aclrtDestroyStreamForce(second.Release())));
        } else {
            ASSERT_TRUE(IsOk(aclrtStreamAbort(second.Get())));
            EXPECT_TRUE(IsOk(aclrtSynchronizeStream(second.Get())));
        }
        Finish(notify, side, before);
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(first.Get())));
        std::vector<int> values = recorder_.Values();
        values.erase(values.begin(), values.begin() + static_cast<ptrdiff_t>(before));
        EXPECT_THAT(values, testing::ElementsAreArray(kWhole));
    }
}

TEST_F(ConditionalEndsTest, AStopDoesNotLetAReplayIntoAnother) {
    const Stream first = MakeStream();
    const Stream second = MakeStream();
    const Stream side = MakeStream();
    const Notify notify = MakeNotify();
    const Model model = CaptureLoop(first, notify);
    ASSERT_TRUE(IsOk(Queue(model, first)));
    ASSERT_TRUE(recorder_.WaitFor(2));
    ASSERT_TRUE(IsOk(Queue(model, second)));
    EXPECT_TRUE(IsOk(aclrtStreamStop(second.Get())));
    Finish(notify, side, 0);
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(first.Get())));
    Finish(notify, side, std::size(kWhole));
    EXPECT_TRUE(IsOk(aclrtSynchronizeStream(second.Get())));
    std::vector<int> twice(std::begin(kWhole), std::end(kWhole));
    twice.insert(twice.end(), std::begin(kWhole), std::end(kWhole));
    EXPECT_EQ(recorder_.Values(), twice);
}

// A host function of a sub-graph blocks after its parent was stopped. A wait with a timeout does
// not run the end of the conditional task, which waits for that function.
TEST_F(ConditionalEndsTest, ATimedWaitReturnsInTime) {
    for (int round = 0; round < 20; ++round) {
        const Stream stream = MakeStream();
        std::promise<void> opened;
        const std::shared_future<void> gate = opened.get_future().share();
        std::promise<void> reached;
        Begin(stream.Get(), kRelaxed);
        Add(stream, MakeCondition(stream, 1), kIf, {[&](const Stream& body) {
                EXPECT_TRUE(IsOk(support::Enqueue(body.Get(), [&reached, gate] {
                    reached.set_value();
                    gate.wait();
                })));
            }});
        const Model model = End(stream.Get());
        ASSERT_TRUE(IsOk(Queue(model, stream)));
        reached.get_future().wait();
        ASSERT_TRUE(IsOk(aclrtStreamStop(stream.Get())));
        aclrtContext context = nullptr;
        ASSERT_TRUE(IsOk(aclrtGetCurrentContext(&context)));
        auto waited = std::async(std::launch::async, [&] {
            EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            return aclrtSynchronizeStreamWithTimeout(stream.Get(), 5);
        });
        EXPECT_EQ(waited.wait_for(10s), std::future_status::ready);
        opened.set_value();
        EXPECT_EQ(waited.get(), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(stream.Get())));
    }
}

// A task of a sub-graph is a part of the conditional task, and so is the callback for its failure:
// it cannot wait for the stream of the replay. The failure of the conditional task follows.
TEST_F(ConditionalEndsTest, TheCallbackForAFailureCannotWaitForTheReplay) {
    static std::atomic<aclrtStream> replayed{nullptr};
    static std::atomic<int> refused{0}, waited{0};
    refused = waited = 0;
    const Stream stream = MakeStream();
    Begin(stream.Get(), kRelaxed);
    Add(stream, MakeCondition(stream, 1), kIf,
        {[](const Stream& body) { EXPECT_TRUE(IsOk(support::EnqueueFailure(body.Get()))); }});
    const Model model = End(stream.Get());
    replayed = stream.Get();
    ASSERT_TRUE(IsOk(aclrtSetExceptionInfoCallback([](aclrtExceptionInfo*) {
        const aclError code = aclrtSynchronizeStreamWithTimeout(replayed.load(), 1000);
        ++(code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT ? refused : waited);
    })));
    EXPECT_TRUE(IsError(ACL_ERROR_FAILURE, Replay(model, stream), {"thrown by a test"}));
    EXPECT_EQ(refused, 2);
    EXPECT_EQ(waited, 0);
    EXPECT_TRUE(IsOk(aclrtSetExceptionInfoCallback(nullptr)));
}

// Conditional tasks of one thread while another thread aborts or stops streams.

class ConditionalRaceTest : public ConditionalTest {
 protected:
    static constexpr int kRounds = 100;
    static constexpr int kAfterLoop = 7;

    struct Loop {
        Stream stream = MakeStream();
        support::DeviceBuffer memory{4096};
        std::shared_ptr<std::atomic<int>> turns = std::make_shared<std::atomic<int>>(0);
        uint64_t* variable = nullptr;
    };

    // A model with a loop of 20 turns, each of a fill and a host function, and a mark after the
    // loop.
    Model Capture(Loop* loop) const {
        Begin(loop->stream.Get(), kRelaxed);
        const aclmdlRICondHandle handle = MakeCondition(loop->stream, 20);
        loop->variable = Variable(handle);
        Add(loop->stream, handle, kWhile, {[loop](const Stream& body) {
                EXPECT_TRUE(IsOk(aclrtMemsetAsync(loop->memory.Get(), 4096, 1, 4096, body.Get())));
                EXPECT_TRUE(
                    IsOk(support::Enqueue(body.Get(), [turns = loop->turns] { ++*turns; })));
                CountDown(body, loop->variable);
            }});
        Mark(loop->stream, kAfterLoop);
        return End(loop->stream.Get());
    }
};

// An abort meets the replay at its beginning or in one of its first turns. It has returned before
// the synchronisation begins, which therefore reports nothing.
TEST_F(ConditionalRaceTest, AnAbortBeforeTheSynchronisationIsNotReported) {
    Loop loop;
    const Model model = Capture(&loop);
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtGetCurrentContext(&context)));
    for (int round = 0; round < kRounds; ++round) {
        const int wanted = *loop.turns + round % 4;
        ASSERT_TRUE(IsOk(Queue(model, loop.stream)));
        std::thread aborts([&] {
            EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
            while (*loop.turns < wanted) {
                std::this_thread::yield();
            }
            EXPECT_TRUE(IsOk(aclrtStreamAbort(loop.stream.Get())));
        });
        aborts.join();
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(loop.stream.Get())));
    }
    EXPECT_TRUE(IsOk(Replay(model, loop.stream)));
    EXPECT_EQ(*loop.variable, 0u);
}

// Another thread stops the stream of the replays and aborts an idle one, all the time. A stop ends
// the loop only, so each replay succeeds and leaves its mark.
TEST_F(ConditionalRaceTest, StopsLeaveWhatComesAfterTheLoop) {
    Loop loop;
    const Model model = Capture(&loop);
    const Stream idle = MakeStream();
    aclrtContext context = nullptr;
    ASSERT_TRUE(IsOk(aclrtGetCurrentContext(&context)));
    std::atomic<bool> done{false};
    std::thread stops([&] {
        EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        while (!done) {
            EXPECT_TRUE(IsOk(aclrtStreamStop(loop.stream.Get())));
            EXPECT_TRUE(IsOk(aclrtStreamAbort(idle.Get())));
            std::this_thread::yield();
        }
    });
    for (int round = 0; round < kRounds; ++round) {
        EXPECT_TRUE(IsOk(Replay(model, loop.stream)));
    }
    done = true;
    stops.join();
    EXPECT_EQ(recorder_.Values(), std::vector<int>(kRounds, kAfterLoop));
    EXPECT_TRUE(IsOk(Replay(model, loop.stream)));
    EXPECT_EQ(*loop.variable, 0u);
}

}  // namespace
}  // namespace conformance
