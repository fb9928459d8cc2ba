// SPDX-License-Identifier: Apache-2.0
// Asynchronous runs, and threads that share sessions, graphs and tensors.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <csignal>
#include <future>
#include <thread>

#include "graph/graph_fixture.h"
#include "support/threads.h"

namespace {

using graphs::Failed;
using graphs::OutputsOf;
using graphs::Succeeded;
using graphs::ValuesOf;
using support::kPatience;
using OptionMap = std::map<ge::AscendString, ge::AscendString>;
using Tensors = std::vector<ge::Tensor>;

// A gate that a callback waits at.
class Gate {
 public:
    void Open() { opened_.set_value(); }
    void Wait() const { EXPECT_EQ(future_.wait_for(kPatience), std::future_status::ready); }

 private:
    std::promise<void> opened_;
    std::shared_future<void> future_ = opened_.get_future().share();
};

// A batch whose outputs name it.
reference::AdvanceStepData BatchOf(int64_t number) {
    reference::AdvanceStepData data = graphs::SmallBatch();
    data.sampledTokenIds = {number, number + 1, number + 2};
    return data;
}

class AsyncTest : public graphs::GraphTest {
 protected:
    void SetUp() override {
        GraphTest::SetUp();
        ASSERT_TRUE(Succeeded(Session().AddGraph(1, graphs::MakeGraph(graphs::SmallBatch()))));
    }
};

TEST_F(AsyncTest, TheWorkerLeavesSignalsToTheProgram) {
    Gate done;
    ASSERT_TRUE(Succeeded(
        Session().RunGraphAsync(1, graphs::TensorsOf(BatchOf(0)), [&done](ge::Status, Tensors&) {
            char name[16] = {};
            EXPECT_EQ(pthread_getname_np(pthread_self(), name, sizeof(name)), 0);
            EXPECT_STREQ(name, "advstep-graph");
            sigset_t blocked;
            EXPECT_EQ(pthread_sigmask(SIG_SETMASK, nullptr, &blocked), 0);
            EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
            EXPECT_EQ(sigismember(&blocked, SIGSEGV), 0);
            done.Open();
        })));
    done.Wait();
}

TEST_F(AsyncTest, RunsInOrderWithCopiesOfTheInputs) {
    std::vector<int64_t> order;  // written by the worker only, until the last callback
    Gate done;
    for (int64_t run = 0; run < 50; ++run) {
        Tensors inputs = graphs::TensorsOf(BatchOf(run * 10));
        ASSERT_TRUE(Succeeded(Session().RunGraphAsync(
            1, inputs, [&order, &done, run](ge::Status status, Tensors& outputs) {
                EXPECT_TRUE(Succeeded(status));
                EXPECT_EQ(ValuesOf(outputs), OutputsOf(graphs::Advanced(BatchOf(run * 10))));
                order.push_back(run);
                if (run == 49) {
                    done.Open();
                }
            })));
        for (ge::Tensor& input : inputs) {  // the run has its own
            std::fill(input.GetData(), input.GetData() + input.GetSize(), uint8_t{0xEE});
        }
    }
    done.Wait();
    std::vector<int64_t> expected(50);
    for (int64_t run = 0; run < 50; ++run) {
        expected[static_cast<size_t>(run)] = run;
    }
    EXPECT_EQ(order, expected);
}

TEST_F(AsyncTest, AFailureComesWithItsMessageAndWithoutOutputs) {
    Gate done;
    ASSERT_TRUE(
        Succeeded(Session().RunGraphAsync(1, {}, [&done](ge::Status status, Tensors& outputs) {
            EXPECT_TRUE(Failed(status, {"E13025", "RunGraphAsync"}));
            EXPECT_TRUE(outputs.empty());
            done.Open();
        })));
    done.Wait();
    EXPECT_STREQ(ge::GEGetErrorMsgV2().GetString(), "");  // it is the worker's
    EXPECT_TRUE(Failed(Session().RunGraphAsync(1, {}, nullptr), {"E19999", "callback"}));
}

TEST_F(AsyncTest, CallbacksMayThrowAndRunGraphs) {
    Gate done;
    const Tensors inputs = graphs::TensorsOf(BatchOf(7));
    ASSERT_TRUE(Succeeded(Session().RunGraphAsync(
        1, inputs, [](ge::Status, Tensors&) { throw std::runtime_error("the program's"); })));
    ASSERT_TRUE(Succeeded(Session().RunGraphAsync(
        1, inputs, [](ge::Status, Tensors&) { pthread_exit(nullptr); })));
    ASSERT_TRUE(Succeeded(Session().RunGraphAsync(1, inputs, [&](ge::Status, Tensors&) {
        Tensors outputs;
        EXPECT_TRUE(Succeeded(Session().RunGraph(1, inputs, outputs)));
        EXPECT_EQ(ValuesOf(outputs), OutputsOf(graphs::Advanced(BatchOf(7))));
        EXPECT_TRUE(Succeeded(
            Session().RunGraphAsync(1, inputs, [&done](ge::Status, Tensors&) { done.Open(); })));
    })));
    done.Wait();
}

// The first call waits for the worker, and the other writes a message.
TEST_F(AsyncTest, ACancelledThreadEndsAfterItsCalls) {
    Tensors outputs;
    support::OnACancelledThread([&] {
        EXPECT_EQ(Session().RunGraph(1, graphs::TensorsOf(BatchOf(3)), outputs), ge::SUCCESS);
        EXPECT_EQ(Session().RemoveGraph(2), ge::FAILED);
    });
    EXPECT_EQ(ValuesOf(outputs), OutputsOf(graphs::Advanced(BatchOf(3))));
}

TEST_F(AsyncTest, RemovedGraphsStillRun) {
    Gate hold;
    Gate done;
    const Tensors inputs = graphs::TensorsOf(BatchOf(7));
    ASSERT_TRUE(Succeeded(
        Session().RunGraphAsync(1, inputs, [&hold](ge::Status, Tensors&) { hold.Wait(); })));
    ASSERT_TRUE(Succeeded(Session().RunGraphAsync(1, inputs, [&done](ge::Status status, Tensors&) {
        EXPECT_TRUE(Succeeded(status));
        done.Open();
    })));
    EXPECT_TRUE(Succeeded(Session().RemoveGraph(1)));
    hold.Open();
    done.Wait();
}

TEST_F(AsyncTest, ASecondRunGraphAtATimeFails) {
    Gate hold;
    const Tensors inputs = graphs::TensorsOf(BatchOf(7));
    ASSERT_TRUE(Succeeded(
        Session().RunGraphAsync(1, inputs, [&hold](ge::Status, Tensors&) { hold.Wait(); })));
    // Two threads, one run each, behind the callback: whichever comes second is refused at once.
    std::promise<void> refused;
    std::atomic<int> failures{0};
    const auto run = [&] {
        Tensors outputs;
        const ge::Status status = Session().RunGraph(1, inputs, outputs);
        if (status != ge::SUCCESS) {
            EXPECT_TRUE(Failed(status, {"E19999", "one RunGraph at a time"}));
            EXPECT_EQ(failures.fetch_add(1), 0);
            refused.set_value();
        }
    };
    std::thread first(run);
    std::thread second(run);
    EXPECT_EQ(refused.get_future().wait_for(kPatience), std::future_status::ready);
    hold.Open();
    first.join();
    second.join();
    EXPECT_EQ(failures.load(), 1);
}

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
