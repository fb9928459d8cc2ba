// SPDX-License-Identifier: Apache-2.0
// Runs of one graph by several threads, each on its stream.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "advance_step/fault_injection.h"
#include "graph/stream_run_fixture.h"

namespace {

using namespace graphs;

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

// Memory of the run itself: a constant, and values that are no outputs.
ge::Graph MakeGraphWithMemory(const std::vector<int64_t>& sampled, int64_t queries) {
    auto op = graphs::MakeAdvanceStep("advance", 4, queries, 4);
    std::vector<ge::Operator> sources;
    for (const char* name : graphs::AdvanceStepInputs()) {
        if (std::string(name) == "sampled_token_ids") {
            ge::op::Const constant("sampled");
            constant.set_attr_value(graphs::MakeGraphTensor({3, 1}, sampled));
            op.SetInput(name, constant);
            continue;
        }
        sources.push_back(ge::op::Data(name).set_attr_index(static_cast<int64_t>(sources.size())));
        op.SetInput(name, sources.back());
    }
    ge::Graph graph("memory of its own");
    graph.SetInputs(sources).SetOutputs(
        std::vector<std::pair<ge::Operator, ge::AscendString>>{{op, "seq_lens"}});
    return graph;
}

// A run that has begun keeps the graph until it is queued, and frees it if it is the last one.
TEST_F(StreamRunTest, AGraphIsRemovedWhileAnotherThreadRunsIt) {
    const ge::Graph graph = MakeGraphWithMemory(data_.sampledTokenIds, 3);
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
    Tensors inputs = Of(memory_);
    inputs.erase(inputs.begin() + 1);
    for (int round = 0; round < 50; ++round) {
        ASSERT_TRUE(Succeeded(Session().AddGraphWithCopy(1, graph)));
        std::atomic<bool> begun{false};
        std::thread runner([&] {
            ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
            ge::Status status = ge::SUCCESS;
            while (status == ge::SUCCESS) {
                status = Run(1, inputs, {results_[0]->Tensor()});
                begun = true;
            }
            EXPECT_TRUE(Failed(status, {"E10062", "has no graph 1"}, 1343242242));
        });
        while (!begun) {
            std::this_thread::yield();
        }
        EXPECT_TRUE(Succeeded(Session().RemoveGraph(1)));
        runner.join();
        Synchronize();
    }
}

// Runs that are queued behind work that does not go on, more often than prepared runs are kept, and
// a run that is refused. None of them may wait for that work, be it of the stream or of another.
TEST_F(StreamRunTest, ARunWaitsForNoStream) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeGraphWithMemory(data_.sampledTokenIds, 3))));
    ASSERT_TRUE(Succeeded(Session().AddGraph(2, MakeGraphWithMemory(data_.sampledTokenIds, 9))));
    aclrtStream other = nullptr;
    ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
    for (const aclrtStream held : {other, stream_}) {
        std::vector<std::unique_ptr<DeviceTensor>> lengths;
        std::vector<std::unique_ptr<DeviceTensor>> out;
        for (int64_t run = 0; run < 40; ++run) {
            lengths.push_back(std::make_unique<DeviceTensor>(
                std::vector<int64_t>{4}, std::vector<int64_t>{run % 8, 8, run % 4, 0}));
            out.push_back(std::make_unique<DeviceTensor>(std::vector<int64_t>{4},
                                                         std::vector<int64_t>{-7, -7, -7, -7}));
        }
        uint64_t hold = 0;
        ASSERT_EQ(advstepHoldStream(held, &hold), ACL_SUCCESS);
        auto runs = std::async(std::launch::async, [&] {
            ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
            for (size_t run = 0; run < out.size(); ++run) {
                const Tensors in = {memory_[0]->Tensor(), memory_[2]->Tensor(),
                                    lengths[run]->Tensor(), memory_[4]->Tensor(),
                                    memory_[5]->Tensor()};
                ASSERT_TRUE(Succeeded(Run(1, in, {out[run]->Tensor()})));
                ASSERT_TRUE(Failed(Run(2, in, {out[run]->Tensor()}), {"561002", "numQueries"}));
            }
        });
        EXPECT_EQ(runs.wait_for(support::kPatience), std::future_status::ready);
        ASSERT_EQ(advstepReleaseHold(hold), ACL_SUCCESS);
        runs.get();
        Synchronize();
        for (int64_t run = 0; run < 40; ++run) {
            EXPECT_EQ(out[static_cast<size_t>(run)]->Read(),
                      (std::vector<int64_t>{run % 8 + 1, 9, run % 4 + 1, 0}));
        }
    }
    ASSERT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

// A run looks for memory that earlier runs of other streams no longer use. The questions that it
// asks the runtime for that fail silently: the calling thread's last error stays, and they leave no
// message. An older message goes, because a run makes the arguments of operators.
TEST_F(StreamRunTest, ARunKeepsTheLastErrorOfItsThread) {
    const auto run = [&](uint32_t graph, aclrtStream stream, const DeviceTensor& out) {
        Tensors outputs = {out.Tensor()};
        const Tensors in = {memory_[0]->Tensor(), memory_[2]->Tensor(), memory_[3]->Tensor(),
                            memory_[4]->Tensor(), memory_[5]->Tensor()};
        ASSERT_TRUE(Succeeded(Session().RunGraphWithStreamAsync(graph, stream, in, outputs)));
    };
    for (const uint32_t graph : {1, 2, 3}) {
        ASSERT_TRUE(
            Succeeded(Session().AddGraph(graph, MakeGraphWithMemory(data_.sampledTokenIds, 3))));
        aclrtStream other = nullptr;
        ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
        for (int count = 0; count < 20; ++count) {  // more than prepared runs are kept
            std::vector<std::unique_ptr<DeviceTensor>> out;
            for (int place = 0; place <= count; ++place) {
                out.push_back(std::make_unique<DeviceTensor>(std::vector<int64_t>{4},
                                                             std::vector<int64_t>(4)));
            }
            run(graph, other, *out.back());
            ASSERT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
        }
        aclmdlRI model = nullptr;
        if (graph == 2) {
            ASSERT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
        } else if (graph == 3) {
            ASSERT_EQ(aclmdlRICaptureBegin(other, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
        }
        void* none = nullptr;
        ASSERT_EQ(aclrtMalloc(&none, 0, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_ERROR_INVALID_PARAM);
        run(graph, stream_, *results_[graph]);
        EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_INVALID_PARAM);
        EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
        if (graph == 3) {
            ASSERT_EQ(aclmdlRICaptureEnd(other, &model), ACL_SUCCESS);
            ASSERT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
        }
        Synchronize();
        EXPECT_EQ(results_[graph]->Read(), after_.seqLens);
        if (graph != 2) {
            ASSERT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
        }
    }
}

// A host function of queued work may itself run the graph that another thread cannot prepare.
TEST_F(StreamRunTest, AHostFunctionRunsAGraphThatAnotherThreadFailsToPrepare) {
    // There are more queries than sequences.
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeGraphWithMemory(data_.sampledTokenIds, 9))));
    struct Shared {
        ge::Session& session;
        aclrtStream stream;
        std::atomic<bool> begun{false};
        std::atomic<bool> refused{false};  // the other thread's run
        std::atomic<int> calls{0};
        std::atomic<int> failures{0};
    } shared{Session(), stream_};
    ASSERT_EQ(aclrtLaunchHostFunc(
                  stream_,
                  [](void* argument) {
                      Shared& all = *static_cast<Shared*>(argument);
                      all.begun = true;
                      do {
                          Tensors none;
                          ++all.calls;
                          all.failures += all.session.RunGraphWithStreamAsync(1, all.stream, {},
                                                                              none) != ge::SUCCESS;
                      } while (!all.refused);
                  },
                  &shared),
              ACL_SUCCESS);
    while (!shared.begun) {
        std::this_thread::yield();
    }
    Tensors inputs = Of(memory_);
    inputs.erase(inputs.begin() + 1);
    EXPECT_TRUE(Failed(Run(1, inputs, {results_[0]->Tensor()}), {"E19999", "numQueries is 9"}));
    shared.refused = true;
    Synchronize();
    EXPECT_EQ(shared.failures, shared.calls);
}

}  // namespace
