// SPDX-License-Identifier: Apache-2.0
// Conditional tasks of one thread while another thread aborts or stops streams.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "conformance/conditional_fixture.h"

namespace conformance {
namespace {

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
