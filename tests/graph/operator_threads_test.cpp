// SPDX-License-Identifier: Apache-2.0
// Functions of a program's operators that use the session while it runs them.
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "graph/device_tensors.h"
#include "graph/tied_operator_fixture.h"

namespace {

std::function<void()> inRun;  // run in the next call of phase two

aclnnStatus RunAfterAll(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                        aclrtStream stream) {
    if (const auto once = std::exchange(inRun, nullptr)) {
        once();
    }
    return aclnnTestMix(workspace, workspaceSize, executor, stream);
}

}  // namespace

TEST_TIED_MIX(TestMixOwnRun, RunAfterAll, 7)

namespace {

using namespace graphs;
using Tensors = std::vector<ge::Tensor>;
using Rows = std::vector<int64_t>;

class OperatorThreadsTest : public graphs::TiedOperatorTest {
 protected:
    void SetUp() override {
        TiedOperatorTest::SetUp();
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        ASSERT_EQ(aclrtGetCurrentContext(&context_), ACL_SUCCESS);
        ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    }
    void TearDown() override {
        EXPECT_TRUE(Succeeded(Session().RemoveGraph(1)));
        EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
        TiedOperatorTest::TearDown();
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    }
    // Runs the function in another thread with the context of this one, and waits for it.
    template <typename Work>
    void InAnotherThread(const Work& work) {
        std::thread([&] {
            EXPECT_EQ(aclrtSetCurrentContext(context_), ACL_SUCCESS);
            work();
        }).join();
    }
    // Adds graph 1, of one operator with the Data read and this state.
    template <typename Operator>
    void Add(Operator op, const ge::Operator& state, bool isData) {
        auto read = graphs::MakeData("read", 0);
        op.set_input_read_in(read).SetInput("state", state);
        std::vector<ge::Operator> inputs = {read};
        if (isData) {
            inputs.push_back(state);
        }
        ge::Graph graph("one");
        graph.SetInputs(inputs).SetOutputs(std::vector<ge::Operator>{op});
        ASSERT_TRUE(Succeeded(Session().AddGraph(1, graph)));
    }
    // The same of the operator with a phase two of the program, whose state is another tensor.
    void AddOwnRun() {
        Add(ge::op::TestMixOwnRun("mix").set_attr_narrow(7),
            ge::op::RefData("state").set_attr_index(1), true);
    }
    // Returns attributes of their own, so that no earlier plan is found.
    static int64_t NewNarrow() {
        static int64_t narrow = 1000;
        return ++narrow;
    }

    aclrtContext context_ = nullptr;
    aclrtStream stream_ = nullptr;
};

// Each function of an operator waits for another run of the graph, with the same memory. All runs
// are queued.
TEST_F(OperatorThreadsTest, AnOperatorMayWaitForAnotherStreamRun) {
    AddOwnRun();
    const DeviceTensor read({2}, {1, 2}), state({2}, {5, 6}), sum({2}, {0, 0});
    const auto run = [&] {
        Tensors outputs = {state.Tensor(), sum.Tensor()};
        EXPECT_TRUE(Succeeded(Session().RunGraphWithStreamAsync(
            1, stream_, {read.Tensor(), state.Tensor()}, outputs)));
    };
    int64_t runs = 0;
    for (std::function<void()>* const function : {&graphs::inInfer, &inRun, &inRun}) {
        bool isCalled = false;
        *function = [&] {
            InAnotherThread(run);
            run();
            isCalled = true;
        };
        run();
        EXPECT_TRUE(isCalled);
        ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
        runs += 3;
        EXPECT_EQ(state.Read(), (Rows{5 + runs, 6 + 2 * runs}));
        EXPECT_EQ(sum.Read(), (Rows{8, 9}));
    }
}

// The run is refused, and a later one has the same memory.
TEST_F(OperatorThreadsTest, AnOperatorThatEndsItsThreadIsRefused) {
    AddOwnRun();
    const DeviceTensor read({2}, {1, 2}), state({2}, {5, 6}), sum({2}, {0, 0});
    const auto run = [&] {
        Tensors outputs = {state.Tensor(), sum.Tensor()};
        return Session().RunGraphWithStreamAsync(1, stream_, {read.Tensor(), state.Tensor()},
                                                 outputs);
    };
    inRun = [] { pthread_exit(nullptr); };
    EXPECT_TRUE(Failed(run(), {"E19999", "pthread_exit; expected it to return"}));
    EXPECT_TRUE(Succeeded(run()));
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(state.Read(), (Rows{6, 8}));
}

// While a run has the Variables, readers see the values from before it.
TEST_F(OperatorThreadsTest, AnOperatorMayWaitForReadersOfTheVariables) {
    Add(NewMix("mix", NewNarrow()), graphs::MakeVariable("state", {5, 6}), false);
    const Tensors inputs = {MakeGraphTensor({2}, {1, 2})};
    Tensors results;
    int reads = 0;
    const auto read = [&] {
        Tensors values;
        ASSERT_TRUE(Succeeded(Session().GetVariables({"state"}, values)));
        EXPECT_EQ(ValuesOf(values[0]), (Rows{5, 6}));
        ++reads;
    };
    graphs::inPlan = [&] {
        read();
        InAnotherThread(read);
        InAnotherThread([&] {
            const DeviceTensor one({2}, {10, 20}), out({2}, {0, 0}), sum({2}, {0, 0});
            Tensors outputs = {out.Tensor()};  // too few: it is refused after it has the Variables
            EXPECT_EQ(Session().RunGraphWithStreamAsync(1, stream_, {one.Tensor()}, outputs),
                      ge::FAILED);
            outputs = {out.Tensor(), sum.Tensor()};
            EXPECT_EQ(Session().RunGraphWithStreamAsync(1, stream_, {one.Tensor()}, outputs),
                      ge::SUCCESS);
            EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
            EXPECT_EQ(out.Read(), (Rows{15, 26}));
        });
    };
    ASSERT_TRUE(Succeeded(Session().RunGraph(1, inputs, results)));
    EXPECT_EQ(reads, 2);
    EXPECT_EQ(ValuesOf(results[0]), (Rows{6, 8}));
    ASSERT_TRUE(Succeeded(Session().GetVariables({"state"}, results)));
    EXPECT_EQ(ValuesOf(results[0]), (Rows{6, 8}));
}

// A run in a function of the program has a context of its own. The outer run, or the callback, goes
// on in the one that it had.
TEST_F(OperatorThreadsTest, AnOperatorMayRunAnotherGraph) {
    Add(NewMix("mix", NewNarrow()), graphs::MakeData("state", 1), true);
    auto other = graphs::MakeData("other", 0);
    ge::Graph copy("copy");
    copy.SetInputs({other}).SetOutputs(std::vector<ge::Operator>{other});
    ASSERT_TRUE(Succeeded(Session().AddGraph(2, copy)));
    int inner = 0;
    const auto run = [&] {
        Tensors results;
        EXPECT_TRUE(Succeeded(Session().RunGraph(2, {MakeGraphTensor({2}, {3, 4})}, results)));
        EXPECT_TRUE(!results.empty() && ValuesOf(results[0]) == (Rows{3, 4}));
        ++inner;
    };
    graphs::inPlan = run;
    std::promise<Rows> ended;
    ASSERT_TRUE(Succeeded(Session().RunGraphAsync(
        1, {MakeGraphTensor({2}, {1, 2}), MakeGraphTensor({2}, {5, 6})},
        [&](ge::Status status, Tensors& outputs) {
            EXPECT_TRUE(Succeeded(status));
            run();
            EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
            EXPECT_EQ(aclrtSetCurrentContext(context_), ACL_SUCCESS);
            run();
            aclrtContext after = nullptr;
            EXPECT_EQ(aclrtGetCurrentContext(&after), ACL_SUCCESS);
            EXPECT_EQ(after, context_);
            ended.set_value(outputs.empty() ? Rows() : ValuesOf(outputs[0]));
        })));
    EXPECT_EQ(ended.get_future().get(), (Rows{6, 8}));
    EXPECT_EQ(inner, 3);
}

// A run in the function Plan of a run that has the Variables would wait for that run.
TEST_F(OperatorThreadsTest, AnOperatorCannotRunAGraphOfItsVariables) {
    Add(NewMix("mix", NewNarrow()), graphs::MakeVariable("state", {5, 6}), false);
    const Tensors inputs = {MakeGraphTensor({2}, {1, 2})};
    Tensors results;
    bool isPlanned = false;
    graphs::inPlan = [&] {
        EXPECT_TRUE(Failed(Session().RunGraph(1, inputs, results), {"E10062", "after the run"}));
        isPlanned = true;
    };
    std::promise<Rows> ended;
    ASSERT_TRUE(
        Succeeded(Session().RunGraphAsync(1, inputs, [&](ge::Status status, Tensors& outputs) {
            EXPECT_TRUE(Succeeded(status));
            ended.set_value(outputs.empty() ? Rows() : ValuesOf(outputs[0]));
        })));
    EXPECT_EQ(ended.get_future().get(), (Rows{6, 8}));
    EXPECT_TRUE(isPlanned);
}

}  // namespace
