// SPDX-License-Identifier: Apache-2.0
// Runs of one graph by several threads, each on its stream.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "graph/stream_run_fixture.h"

namespace {

using graphs::DeviceTensor;
using graphs::Failed;
using graphs::StreamRunTest;
using graphs::Succeeded;
using graphs::Tensors;

// Threads share a graph; each has its stream, its memory and so its prepared run.
TEST_F(StreamRunTest, ThreadsHaveTheirOwnStreams) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeGraph<ge::op::Data>())));
    const auto work = [&] {
        aclrtStream stream = nullptr;
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
        {
            const DeviceTensor tokens({4}, {0, 0, 0, 0});
            const DeviceTensor positions({4}, {0, 0, 0, 0});
            const DeviceTensor lengths({4}, {0, 0, 0, 0});
            const DeviceTensor slots({4}, {0, 0, 0, 0});
            Tensors out = {tokens.Tensor(), positions.Tensor(), lengths.Tensor(), slots.Tensor()};
            for (int run = 0; run < 20; ++run) {
                ASSERT_TRUE(
                    Succeeded(Session().RunGraphWithStreamAsync(1, stream, Of(memory_), out)));
            }
            ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
            EXPECT_EQ(lengths.Read(), after_.seqLens);
            EXPECT_EQ(slots.Read(), after_.slotMapping);
        }
        ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    };
    std::thread one(work);
    std::thread two(work);
    one.join();
    two.join();
}

// A run that cannot be prepared frees memory, which waits for the work of all streams. A host
// function of that work may itself run the graph meanwhile.
TEST_F(StreamRunTest, AHostFunctionRunsAGraphThatAnotherThreadFailsToPrepare) {
    auto op = graphs::MakeAdvanceStep("advance", 4, 9, 4);  // more queries than sequences
    std::vector<ge::Operator> sources;
    for (const char* name : graphs::AdvanceStepInputs()) {
        if (std::string(name) == "sampled_token_ids") {
            ge::op::Const sampled("sampled");  // memory of the run itself
            sampled.set_attr_value(graphs::MakeGraphTensor({3, 1}, data_.sampledTokenIds));
            op.SetInput(name, sampled);
            continue;
        }
        const auto index = static_cast<int64_t>(sources.size());
        sources.push_back(ge::op::Data(name).set_attr_index(index));
        op.SetInput(name, sources.back());
    }
    ge::Graph graph("not prepared");
    graph.SetInputs(sources).SetOutputs(std::vector<ge::Operator>{op});
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graph)));
    struct Shared {
        ge::Session& session;
        aclrtStream stream;
        std::atomic<bool> begun{false};
        std::atomic<int> failures{0};
    } shared{Session(), stream_};
    ASSERT_EQ(aclrtLaunchHostFunc(
                  stream_,
                  [](void* argument) {
                      Shared& all = *static_cast<Shared*>(argument);
                      all.begun = true;
                      for (int call = 0; call < 50; ++call) {
                          Tensors none;
                          all.failures += all.session.RunGraphWithStreamAsync(1, all.stream, {},
                                                                              none) != ge::SUCCESS;
                          std::this_thread::sleep_for(std::chrono::milliseconds(1));
                      }
                  },
                  &shared),
              ACL_SUCCESS);
    while (!shared.begun) {
        std::this_thread::yield();
    }
    Tensors inputs = Of(memory_);
    inputs.erase(inputs.begin() + 1);
    EXPECT_TRUE(Failed(Run(1, inputs, Of(results_)), {"E19999", "numQueries is 9"}));
    Synchronize();
    EXPECT_EQ(shared.failures, 50);
}

}  // namespace
