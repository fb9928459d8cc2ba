// SPDX-License-Identifier: Apache-2.0
// Graph mode while the thread that runs a session's graphs gets no memory.
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <memory>
#include <new>
#include <utility>

#include "faults/counted_allocations.h"
#include "graph/graph_fixture.h"

namespace {

using graphs::Failed;
using graphs::OutputsOf;
using graphs::Succeeded;
using graphs::ValuesOf;
using Tensors = std::vector<ge::Tensor>;

class GraphMemoryTest : public graphs::GraphTest {
 protected:
    void SetUp() override {
        GraphTest::SetUp();
        ASSERT_TRUE(Succeeded(Session().AddGraph(1, graphs::MakeGraph(data_))));
    }

    // Runs `body` in the session's worker, in the callback of a run that fails. So the worker has a
    // message afterwards.
    template <typename Body>
    void InWorker(Body&& body) {
        std::promise<void> done;
        ASSERT_TRUE(Succeeded(Session().RunGraphAsync(1, {}, [&](ge::Status status, Tensors&) {
            EXPECT_EQ(status, ge::FAILED);
            body();
            done.set_value();
        })));
        ASSERT_EQ(done.get_future().wait_for(support::kPatience), std::future_status::ready);
    }

    void ExpectRuns(ge::Session& session) {
        Tensors outputs;
        ASSERT_TRUE(Succeeded(session.RunGraph(1, graphs::TensorsOf(data_), outputs)));
        EXPECT_EQ(ValuesOf(outputs), OutputsOf(after_));
    }

    const reference::AdvanceStepData data_ = graphs::SmallBatch();
    const reference::AdvanceStepData after_ = graphs::Advanced(data_);
};

// All of the worker's allocations fail from one on: the first, then the second and so on.
TEST_F(GraphMemoryTest, TheWorkerOutlivesRunsWithoutMemory) {
    uint64_t struck = 1;
    uint64_t n = 1;
    for (; struck != 0 && !HasFailure(); ++n) {
        SCOPED_TRACE(n);
        InWorker([n] { faults::FailAllocationsOfThread(n, UINT64_MAX); });
        Tensors outputs;
        const ge::Status status = Session().RunGraph(1, graphs::TensorsOf(data_), outputs);
        InWorker([&struck] {
            struck = faults::FailedAllocationsOfThread();
            faults::FailAllocationsOfThread(0, 0);
        });
        EXPECT_TRUE(status == ge::FAILED || status == ge::SUCCESS);
        EXPECT_TRUE(status == ge::FAILED || ValuesOf(outputs) == OutputsOf(after_));
        ExpectRuns(Session());
    }
    EXPECT_GT(n, 10U);  // a run needs memory
}

// A run without memory for its inputs is refused, not queued. A callback that cannot be queued is
// destroyed without the session's lock.
TEST_F(GraphMemoryTest, TheCallbackOfACallWithoutMemoryMayCallTheSession) {
    int destroyed = 0;
    const auto call = [&](void*) {
        faults::FailAllocationsOfThread(0, 0);
        EXPECT_TRUE(Failed(Session().RemoveGraph(7), {"session"}));
        ++destroyed;
    };
    const Tensors inputs = graphs::TensorsOf(data_);
    int calls = 0;
    for (ge::Status status = ge::FAILED; status == ge::FAILED && !HasFailure();) {
        const auto done = std::make_shared<std::promise<void>>();
        std::shared_ptr<void> guard(&destroyed, call);
        ge::RunAsyncCallback callback = [done, guard](ge::Status run, Tensors&) {
            EXPECT_EQ(run, ge::SUCCESS);
            done->set_value();
        };
        guard.reset();
        faults::FailAllocationsOfThread(static_cast<uint64_t>(++calls), 1);
        status = Session().RunGraphAsync(1, inputs, std::move(callback));
        faults::FailAllocationsOfThread(0, 0);
        if (status == ge::SUCCESS) {
            ASSERT_EQ(done->get_future().wait_for(support::kPatience), std::future_status::ready);
        } else {
            EXPECT_EQ(destroyed, calls);
        }
    }
    EXPECT_GT(calls, 5);  // a call needs memory
    ExpectRuns(Session());
}

// A callback runs the graph of another session in its own thread.
TEST_F(GraphMemoryTest, ARunInACallbackEndsWithoutMemory) {
    ge::Session other(std::map<ge::AscendString, ge::AscendString>{});
    ASSERT_TRUE(Succeeded(other.AddGraph(1, graphs::MakeGraph(data_))));
    const Tensors inputs = graphs::TensorsOf(data_);
    uint64_t struck = 1;
    for (uint64_t n = 1; struck != 0 && !HasFailure(); ++n) {
        SCOPED_TRACE(n);
        InWorker([&] {
            Tensors outputs;
            faults::FailAllocationsOfThread(n, UINT64_MAX);
            const ge::Status status = other.RunGraph(1, inputs, outputs);
            struck = faults::FailedAllocationsOfThread();
            faults::FailAllocationsOfThread(0, 0);
            EXPECT_TRUE(status == ge::FAILED || ValuesOf(outputs) == OutputsOf(after_));
        });
        ExpectRuns(other);
    }
}

// A session whose constructor got no memory is like one that was made with a bad option.
TEST_F(GraphMemoryTest, ASessionWithoutMemoryFailsInEveryCall) {
    const std::map<ge::AscendString, ge::AscendString> options;
    uint64_t struck = 1;
    for (uint64_t n = 1; struck != 0 && !HasFailure(); ++n) {
        faults::FailAllocationsOfThread(n, UINT64_MAX);
        ge::Session session(options);
        struck = faults::FailedAllocationsOfThread();
        faults::FailAllocationsOfThread(0, 0);
        ge::GEGetErrorMsgV2();
        if (struck != 0) {
            EXPECT_TRUE(Failed(session.RemoveGraph(1), {"E10062", "session"}));
            EXPECT_TRUE(session.IsGraphNeedRebuild(1));
            EXPECT_EQ(session.GetCompiledGraphSummary(1), nullptr);
        }
    }
}

// A link that gets no memory throws, and the operators stay apart: one may go without the other.
// Names that have to be copied are no way out of the call for an exception.
TEST_F(GraphMemoryTest, NamesOfVariablesWithoutMemoryFail) {
    auto state = ge::op::Variable("state");
    state.SetAttr("value", graphs::MakeGraphTensor({1}, {7}));
    ge::Graph graph("state");
    graph.SetInputs({state}).SetOutputs(std::vector<ge::Operator>{state});
    ASSERT_TRUE(Succeeded(Session().AddGraph(2, graph)));
    const std::vector<ge::AscendString> names(3, "state");
    const std::initializer_list<ge::AscendString> listed = {"state", "state", "state"};
    const auto strike = [&](const auto& given) {
        uint64_t struck = 1;
        uint64_t n = 1;
        for (; struck != 0 && !HasFailure(); ++n) {
            SCOPED_TRACE(n);
            Tensors tensors;
            ge::Status status = ge::SUCCESS;
            faults::FailAllocationsOfThread(n, UINT64_MAX);
            EXPECT_NO_THROW(status = Session().GetVariables(given, tensors));
            struck = faults::FailedAllocationsOfThread();
            faults::FailAllocationsOfThread(0, 0);
            EXPECT_EQ(status == ge::SUCCESS, tensors.size() == 3);
            EXPECT_EQ(status == ge::SUCCESS, struck == 0);
        }
        EXPECT_GT(n, 3U);
    };
    strike(names);
    strike(listed);
}

TEST_F(GraphMemoryTest, ALinkWithoutMemoryIsNotThere) {
    bool isWhole = false;
    for (uint64_t n = 1; !isWhole && !HasFailure(); ++n) {
        SCOPED_TRACE(n);
        ge::op::AdvanceStep reader("reader");
        {
            const ge::op::Data source("source");
            const ge::op::Data before("before");
            faults::FailAllocationsOfThread(n, 1);
            try {
                reader.AddControlInput(before).SetInput("seq_lens", source);
            } catch (const std::bad_alloc&) {
            }
            isWhole = faults::FailedAllocationsOfThread() == 0;
            faults::FailAllocationsOfThread(0, 0);
        }
        // The graph has the operators that the reader is linked with. This looks at each of them.
        ge::Graph graph("linked");
        graph.SetInputs({reader, ge::op::Data("input")});
        for (const ge::GNode& node : graph.GetAllNodes()) {
            ge::AscendString name;
            EXPECT_EQ(node.GetName(name), ge::GRAPH_SUCCESS);
            EXPECT_LE(node.GetInControlNodes().size(), 1U);
            EXPECT_LE(node.GetOutDataNodesAndPortIndexs(0).size(), 1U);
        }
        const size_t links = graph.GetAllNodes().size();
        EXPECT_EQ(isWhole, links == 4) << links;
    }
}

TEST_F(GraphMemoryTest, TheMessageSaysSo) {
    const ge::Graph graph = graphs::MakeGraph(data_);
    faults::FailAllocationsOfThread(1, 1);
    const ge::Status status = Session().AddGraph(2, graph);
    faults::FailAllocationsOfThread(0, 0);
    EXPECT_TRUE(Failed(status, {"Inner_Error(E19999)", "AddGraph: the host is out of memory"}));
}

}  // namespace
