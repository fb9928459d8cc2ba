// SPDX-License-Identifier: Apache-2.0
// Runs on streams of the program, in device memory: which values are where after a run.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "graph/stream_run_fixture.h"

namespace {

using namespace graphs;

TEST_F(StreamRunTest, DataStaysAndOutputsAreWritten) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeGraph<ge::op::Data>())));
    const auto before = Read(memory_);
    Tensors outputs = Of(results_);
    outputs[0].SetTensorDesc(ge::TensorDesc());
    for (int run = 0; run < 3; ++run) {
        ASSERT_TRUE(Succeeded(Session().RunGraphWithStreamAsync(1, stream_, Of(memory_), outputs)));
    }
    Synchronize();
    EXPECT_EQ(Read(results_), OutputsOf(after_));
    EXPECT_EQ(Read(memory_), before);
    EXPECT_EQ(outputs[0].GetTensorDesc().GetShape().GetDims(), std::vector<int64_t>{4});
    EXPECT_EQ(outputs[0].GetTensorDesc().GetDataType(), ge::DT_INT64);
}

// Nothing runs before what the stream has to do first.
TEST_F(StreamRunTest, RunsInStreamOrder) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeGraph<ge::op::Data>())));
    const auto write = [](void* lengths) {  // device memory is host memory here
        const int64_t values[] = {6, 9, 13, 0};
        std::memcpy(lengths, values, sizeof values);
    };
    ge::Tensor lengths = memory_[3]->Tensor();
    ASSERT_EQ(aclrtLaunchHostFunc(stream_, write, lengths.GetData()), ACL_SUCCESS);
    ASSERT_TRUE(Succeeded(Run(1, Of(memory_), Of(results_))));
    Synchronize();
    EXPECT_EQ(results_[2]->Read(), (std::vector<int64_t>{7, 10, 14, 0}));
}

TEST_F(StreamRunTest, AnOutputMayBeTheMemoryOfItsInput) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeGraph<ge::op::Data>())));
    const Tensors in = Of(memory_);
    ASSERT_TRUE(Succeeded(Run(1, in, {in[0], in[2], in[3], in[4]})));
    ASSERT_TRUE(Succeeded(Run(1, in, {in[0], in[2], in[3], in[4]})));
    Synchronize();
    const auto twice = Advanced(after_);
    for (const size_t i : {0, 2, 3, 4}) {
        EXPECT_EQ(memory_[i]->Read(), *twice.Tensors()[i]) << i;
    }
}

TEST_F(StreamRunTest, RefDataIsUpdatedInPlace) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeGraph<ge::op::RefData>())));
    ASSERT_TRUE(Succeeded(Run(1, Of(memory_), Of(results_))));
    Synchronize();
    EXPECT_EQ(Read(results_), OutputsOf(after_));
    EXPECT_EQ(memory_[3]->Read(), after_.seqLens);
    EXPECT_EQ(memory_[4]->Read(), after_.slotMapping);
}

TEST_F(StreamRunTest, VariablesAreUpdatedInPlace) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graphs::MakeDecodeGraph(data_))));
    ASSERT_TRUE(Succeeded(Session().AddGraph(2, graphs::MakeDecodeGraph(data_, true))));
    const Tensors in = {memory_[1]->Tensor(), memory_[5]->Tensor()};
    auto expected = data_;
    for (int step = 0; step < 2; ++step) {
        ASSERT_TRUE(Succeeded(Run(1, in, {})));
        ASSERT_TRUE(Succeeded(Run(2, in, Of(results_))));
        Synchronize();
        expected = Advanced(Advanced(expected));
        EXPECT_EQ(StateOf(Session()), OutputsOf(expected));
        EXPECT_EQ(Read(results_), OutputsOf(expected));
        if (step == 0) {  // and a run in host memory goes on from there
            Tensors outputs;
            ASSERT_TRUE(Succeeded(
                Session().RunGraph(1,
                                   {graphs::MakeGraphTensor({3, 1}, data_.sampledTokenIds),
                                    graphs::MakeGraphTensor({4, 4}, data_.blockTables)},
                                   outputs)));
            expected = Advanced(expected);
            break;
        }
    }
    EXPECT_EQ(StateOf(Session()), OutputsOf(expected));
}

// A value that others still read is saved before an operator updates its memory.
TEST_F(StreamRunTest, OldValuesStayReadable) {
    auto first = graphs::MakeAdvanceStep("first", 4, 3, 4);
    auto second = graphs::MakeAdvanceStep("second", 4, 3, 4);
    const auto sources = graphs::LinkReferences(&first);
    second.SetInput("sampled_token_ids", sources[1]).SetInput("block_tables", sources[5]);
    for (const char* name : {"input_tokens", "input_positions", "seq_lens", "slot_mapping"}) {
        second.SetInput(name, first, name);
    }
    ge::Graph graph("chain");
    graph.SetInputs(sources).SetOutputs(std::vector<std::pair<ge::Operator, ge::AscendString>>{
        {sources[3], "y"}, {first, "seq_lens"}, {second, "seq_lens"}});
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graph)));
    ASSERT_TRUE(Succeeded(Run(
        1, Of(memory_), {results_[0]->Tensor(), results_[1]->Tensor(), results_[2]->Tensor()})));
    Synchronize();
    const auto twice = Advanced(after_);
    EXPECT_EQ(results_[0]->Read(), data_.seqLens);
    EXPECT_EQ(results_[1]->Read(), after_.seqLens);
    EXPECT_EQ(results_[2]->Read(), twice.seqLens);
    EXPECT_EQ(memory_[3]->Read(), twice.seqLens);
    EXPECT_EQ(memory_[4]->Read(), twice.slotMapping);
    // The same memory for the state's input and the output that it becomes.
    memory_[3]->Write(data_.seqLens);
    memory_[2]->Write(data_.inputPositions);
    ASSERT_TRUE(Succeeded(
        Run(1, Of(memory_), {results_[0]->Tensor(), results_[1]->Tensor(), memory_[3]->Tensor()})));
    Synchronize();
    EXPECT_EQ(results_[0]->Read(), data_.seqLens);
    EXPECT_EQ(results_[1]->Read(), after_.seqLens);
    EXPECT_EQ(memory_[3]->Read(), twice.seqLens);
}

// The default stream is null, as everywhere, and each context has one.
TEST_F(StreamRunTest, RunsOnDefaultStreams) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graphs::MakeDecodeGraph(data_))));
    ASSERT_TRUE(Succeeded(Session().CompileGraph(1)));
    ASSERT_TRUE(Succeeded(Session().LoadGraph(1, {}, nullptr)));
    const Tensors in = {memory_[1]->Tensor(), memory_[5]->Tensor()};
    const auto run = [&] {
        Tensors outputs;
        EXPECT_TRUE(Succeeded(Session().RunGraphWithStreamAsync(1, nullptr, in, outputs)));
        EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    };
    run();
    aclrtContext before = nullptr;
    aclrtContext own = nullptr;
    ASSERT_EQ(aclrtGetCurrentContext(&before), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateContext(&own, 0), ACL_SUCCESS);
    run();
    ASSERT_EQ(aclrtDestroyContext(own), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetCurrentContext(before), ACL_SUCCESS);
    run();
    EXPECT_EQ(StateOf(Session()), OutputsOf(Advanced(Advanced(after_))));
}

TEST_F(StreamRunTest, CanBeCaptured) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graphs::MakeDecodeGraph(data_))));
    const Tensors in = {memory_[1]->Tensor(), memory_[5]->Tensor()};
    aclmdlRI model = nullptr;
    ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
    ASSERT_TRUE(Succeeded(Run(1, in, {})));
    ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
    EXPECT_EQ(StateOf(Session()), OutputsOf(data_));
    auto expected = data_;
    for (int step = 0; step < 2; ++step) {
        ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
        Synchronize();
        expected = Advanced(expected);
        EXPECT_EQ(StateOf(Session()), OutputsOf(expected));
    }
    ASSERT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

// New memory in every run, more often than prepared runs are kept.
TEST_F(StreamRunTest, EveryRunMayHaveItsOwnMemory) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeGraph<ge::op::Data>())));
    for (int run = 0; run < 40; ++run) {
        const DeviceTensor lengths({4}, {run, 8, 12, 0});
        const DeviceTensor ahead({4}, {0, 0, 0, 0});  // moves the next allocation
        Tensors in = Of(memory_);
        in[3] = lengths.Tensor();
        auto expected = data_;
        expected.seqLens = {run % 8, 8, 12, 0};
        lengths.Write(expected.seqLens);
        ASSERT_TRUE(Succeeded(Run(1, in, Of(results_))));
        Synchronize();
        EXPECT_EQ(Read(results_), OutputsOf(Advanced(expected)));
    }
}

TEST_F(StreamRunTest, TheStateOutlivesTheDevice) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graphs::MakeDecodeGraph(data_))));
    ASSERT_TRUE(Succeeded(Run(1, {memory_[1]->Tensor(), memory_[5]->Tensor()}, {})));
    Synchronize();
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    memory_.clear();
    results_.clear();
    ASSERT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    const DeviceTensor sampled({3, 1}, data_.sampledTokenIds);
    const DeviceTensor tables({4, 4}, data_.blockTables);
    ASSERT_TRUE(Succeeded(Run(1, {sampled.Tensor(), tables.Tensor()}, {})));
    Synchronize();
    EXPECT_EQ(StateOf(Session()), OutputsOf(Advanced(after_)));
}

}  // namespace
