// SPDX-License-Identifier: Apache-2.0
// Asynchronous runs: their order, their callbacks, and what else runs behind them.
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "graph/async_fixture.h"

namespace {

using namespace graphs;
using support::kPatience;

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
    ASSERT_TRUE(Succeeded(
        Session().RunGraphAsync(1, inputs, [](ge::Status, Tensors&) { pthread_exit(nullptr); })));
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

}  // namespace
