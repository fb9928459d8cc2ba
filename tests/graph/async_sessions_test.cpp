// SPDX-License-Identifier: Apache-2.0
// Asynchronous runs of several sessions and threads, and the ends of sessions and of graph mode.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "graph/async_fixture.h"

namespace {

using namespace graphs;
using support::kPatience;

TEST_F(AsyncTest, DestructionWaits) {
    std::atomic<int> ran{0};
    {
        ge::Session session(OptionMap{});
        ASSERT_TRUE(Succeeded(session.AddGraph(1, graphs::MakeGraph(BatchOf(0)))));
        for (int run = 0; run < 20; ++run) {
            ASSERT_TRUE(Succeeded(session.RunGraphAsync(1, graphs::TensorsOf(BatchOf(run)),
                                                        [&ran](ge::Status, Tensors&) { ++ran; })));
        }
    }
    EXPECT_EQ(ran.load(), 20);
}

TEST_F(AsyncTest, GEFinalizeWaits) {
    std::atomic<int> ran{0};
    for (int run = 0; run < 20; ++run) {
        ASSERT_TRUE(Succeeded(Session().RunGraphAsync(1, graphs::TensorsOf(BatchOf(run)),
                                                      [&ran](ge::Status status, Tensors&) {
                                                          EXPECT_EQ(status, ge::SUCCESS);
                                                          ++ran;
                                                      })));
    }
    EXPECT_TRUE(Succeeded(ge::GEFinalize()));
    EXPECT_EQ(ran.load(), 20);
}

// A callback may end everything, its own session included. What is queued still runs.
TEST_F(AsyncTest, CallbacksMayEndSessions) {
    auto session = std::make_unique<ge::Session>(OptionMap{});
    ASSERT_TRUE(Succeeded(session->AddGraph(1, graphs::MakeGraph(BatchOf(0)))));
    const Tensors inputs = graphs::TensorsOf(BatchOf(0));
    Gate started;
    Gate done;
    ASSERT_TRUE(Succeeded(session->RunGraphAsync(1, inputs, [&](ge::Status, Tensors&) {
        started.Wait();
        session.reset();
        EXPECT_TRUE(Succeeded(ge::GEFinalize()));
    })));
    ASSERT_TRUE(Succeeded(
        session->RunGraphAsync(1, inputs, [&done](ge::Status, Tensors&) { done.Open(); })));
    started.Open();
    done.Wait();
    Tensors outputs;
    EXPECT_TRUE(Failed(Session().RunGraph(1, inputs, outputs), {"E10062"}));
}

// Callbacks of two sessions that run each other's graphs.
TEST_F(AsyncTest, CallbacksRunGraphsOfOtherSessions) {
    ge::Session other(OptionMap{});
    ASSERT_TRUE(Succeeded(other.AddGraph(1, graphs::MakeGraph(BatchOf(0)))));
    const Tensors inputs = graphs::TensorsOf(BatchOf(3));
    std::promise<void> here;
    std::promise<void> there;
    Gate ranHere;
    Gate ranThere;
    const auto cross = [&inputs](ge::Session& to, std::promise<void>& mine,
                                 std::shared_future<void> theirs, Gate& ran) {
        return [&to, &mine, theirs, &ran, &inputs](ge::Status, Tensors&) {
            mine.set_value();
            EXPECT_EQ(theirs.wait_for(kPatience), std::future_status::ready);
            Tensors outputs;
            EXPECT_TRUE(Succeeded(to.RunGraph(1, inputs, outputs)));
            ran.Open();
        };
    };
    const auto isHere = here.get_future().share();
    const auto isThere = there.get_future().share();
    ASSERT_TRUE(
        Succeeded(Session().RunGraphAsync(1, inputs, cross(other, here, isThere, ranHere))));
    ASSERT_TRUE(
        Succeeded(other.RunGraphAsync(1, inputs, cross(Session(), there, isHere, ranThere))));
    ranHere.Wait();
    ranThere.Wait();
}

// Sessions of several threads, which share graphs, tensors and the table of types.
TEST_F(AsyncTest, ThreadsWithSessionsOfTheirOwn) {
    const ge::Graph graph = graphs::MakeGraph(BatchOf(0));
    const Tensors shared = graphs::TensorsOf(BatchOf(40));
    const auto expected = OutputsOf(graphs::Advanced(BatchOf(40)));
    std::atomic<int> added{0};
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int round = 0; round < 10; ++round) {
                ge::Session session(OptionMap{});
                added += session.AddGraph(9, graph) == ge::SUCCESS ? 1 : 0;
                ASSERT_TRUE(Succeeded(session.AddGraphWithCopy(1, graph)));
                ASSERT_TRUE(Succeeded(session.AddGraph(2, graphs::MakeGraph(BatchOf(thread)))));
                ASSERT_TRUE(ge::OperatorFactory::IsExistOp("AdvanceStep"));
                std::atomic<int> answers{0};
                Tensors outputs;
                for (const uint32_t graphId : {1U, 2U}) {
                    ASSERT_TRUE(Succeeded(
                        session.RunGraphAsync(graphId, shared, [&](ge::Status, Tensors& results) {
                            EXPECT_EQ(ValuesOf(results), expected);
                            ++answers;
                        })));
                    ASSERT_TRUE(Succeeded(session.RunGraph(graphId, shared, outputs)));
                    EXPECT_EQ(ValuesOf(outputs), expected);
                }
                EXPECT_EQ(answers.load(), 2);  // RunGraph goes behind what is queued
                ge::GEGetErrorMsgV2();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(added.load(), 1);
}

// One session for all: runs, additions and removals, while graph mode ends.
TEST_F(AsyncTest, GEFinalizeInTheMiddle) {
    for (int round = 0; round < 10; ++round) {
        ASSERT_TRUE(Succeeded(ge::GEInitialize({})));
        ge::Session session(OptionMap{});
        const Tensors inputs = graphs::TensorsOf(BatchOf(round));
        std::atomic<int> queued{0};
        std::atomic<int> called{0};
        std::vector<std::thread> threads;
        for (uint32_t thread = 0; thread < 3; ++thread) {
            threads.emplace_back([&, thread] {
                for (int turn = 0; turn < 20; ++turn) {
                    session.AddGraph(thread, graphs::MakeGraph(BatchOf(0)));
                    Tensors outputs;
                    session.RunGraph(thread, inputs, outputs);
                    const ge::Status status = session.RunGraphAsync(
                        thread, inputs, [&called](ge::Status, Tensors&) { ++called; });
                    queued += status == ge::SUCCESS ? 1 : 0;
                    session.RemoveGraph(thread);
                }
                ge::GEGetErrorMsgV2();
            });
        }
        ge::GEFinalize();
        for (std::thread& thread : threads) {
            thread.join();
        }
        EXPECT_EQ(called.load(), queued.load());
    }
}

}  // namespace
