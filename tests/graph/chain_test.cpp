// SPDX-License-Identifier: Apache-2.0
// Graphs of several operators against as many calls of aclnnAdvanceStep.
#include <gtest/gtest.h>

#include "acl/acl.h"
#include "graph/graph_fixture.h"
#include "support/advance_step_batch.h"
#include "support/status.h"

namespace {

using namespace graphs;
using reference::AdvanceStepData;
using support::IsOk;

class ChainTest : public graphs::GraphTest {
 protected:
    // Data operators for every tensor of AdvanceStep.
    ChainTest() {
        for (size_t i = 0; i < AdvanceStepInputs().size(); ++i) {
            sources_.push_back(MakeData(AdvanceStepInputs()[i], static_cast<int64_t>(i)));
        }
    }
    // An operator behind another one, or behind the Data.
    ge::op::AdvanceStep After(const std::string& name, const ge::Operator* before) {
        auto op = graphs::MakeAdvanceStep(name, 4, 3, 4);
        for (size_t i = 0; i < sources_.size(); ++i) {
            const char* input = AdvanceStepInputs()[i];
            const bool isUpdated = i == 0 || i == 2 || i == 3 || i == 4;
            if (before != nullptr && isUpdated) {
                op.SetInput(input, *before, input);
            } else {
                op.SetInput(input, sources_[i]);
            }
        }
        return op;
    }
    std::vector<std::vector<int64_t>> Run(const std::vector<ge::Operator>& outputs,
                                          const AdvanceStepData& data) {
        ge::Graph graph("chain");
        graph.SetInputs(sources_).SetOutputs(outputs);
        EXPECT_TRUE(Succeeded(Session().AddGraph(1, graph)));
        const std::vector<ge::Tensor> inputs = graphs::TensorsOf(data);
        const auto before = ValuesOf(inputs);
        std::vector<ge::Tensor> results;
        for (int run = 0; run < 2; ++run) {  // the second says that the first left nothing behind
            EXPECT_TRUE(Succeeded(Session().RunGraph(1, inputs, results)));
            EXPECT_EQ(ValuesOf(inputs), before);
        }
        return ValuesOf(results);
    }
    // The state after some calls of the operator through aclnn.
    static AdvanceStepData CallAclnn(const AdvanceStepData& data, int calls) {
        EXPECT_TRUE(IsOk(aclrtSetDevice(0)));
        AdvanceStepData state = data;
        {
            support::AdvanceStepBatch batch(data);
            for (int call = 0; call < calls; ++call) {
                EXPECT_TRUE(IsOk(batch.Run(nullptr)));
            }
            const auto download = [&](size_t tensor, std::vector<int64_t>& to) {
                EXPECT_TRUE(
                    IsOk(aclrtMemcpy(to.data(), to.size() * sizeof(int64_t), batch.Address(tensor),
                                     to.size() * sizeof(int64_t), ACL_MEMCPY_DEVICE_TO_HOST)));
            };
            download(support::kInputTokens, state.inputTokens);
            download(support::kInputPositions, state.inputPositions);
            download(support::kSeqLens, state.seqLens);
            download(support::kSlotMapping, state.slotMapping);
        }
        EXPECT_TRUE(IsOk(aclrtResetDevice(0)));
        return state;
    }

    std::vector<ge::Operator> sources_;
};

AdvanceStepData LongBatch() {
    AdvanceStepData data = graphs::SmallBatch();
    data.maxBlocks = 20;
    data.blockTables.clear();
    for (int64_t entry = 0; entry < data.numSeqs * data.maxBlocks; ++entry) {
        data.blockTables.push_back(entry * 7 % 101);
    }
    return data;
}

TEST_F(ChainTest, KOperatorsAreKCalls) {
    const AdvanceStepData data = LongBatch();
    std::vector<ge::Operator> chain;
    for (int k = 0; k < 32; ++k) {
        const ge::Operator* before = chain.empty() ? nullptr : &chain.back();
        const auto op = After("advance" + std::to_string(k), before);
        chain.push_back(op);
    }
    EXPECT_EQ(Run({chain.back()}, data), graphs::OutputsOf(CallAclnn(data, 32)));
}

// Every operator of the chain is an output of the graph too: none may see what the next one does.
TEST_F(ChainTest, EveryStepStaysVisible) {
    const AdvanceStepData data = LongBatch();
    std::vector<ge::Operator> chain;
    std::vector<std::vector<int64_t>> expected;
    for (int k = 0; k < 5; ++k) {
        const ge::Operator* before = chain.empty() ? nullptr : &chain.back();
        const auto op = After("advance" + std::to_string(k), before);
        chain.push_back(op);
        const auto outputs = graphs::OutputsOf(CallAclnn(data, k + 1));
        expected.insert(expected.end(), outputs.begin(), outputs.end());
    }
    EXPECT_EQ(Run(chain, data), expected);
}

TEST_F(ChainTest, OneDataFeedsTwoConsumers) {
    const AdvanceStepData data = graphs::SmallBatch();
    const auto once = graphs::OutputsOf(graphs::Advanced(data));
    std::vector<std::vector<int64_t>> expected = once;
    expected.insert(expected.end(), once.begin(), once.end());
    expected.push_back(data.seqLens);
    const auto one = After("one", nullptr);
    const auto other = After("other", nullptr);
    EXPECT_EQ(Run({one, other, sources_[3]}, data), expected);
}

// One value in several inputs of one operator, updated and only read.
TEST_F(ChainTest, OneDataFeedsSeveralInputsOfOneOperator) {
    AdvanceStepData data = graphs::SmallBatch();
    auto op = graphs::MakeAdvanceStep("advance", 4, 3, 4);
    const std::vector<size_t> sources = {3, 1, 3, 3, 3, 5};  // all four are seq_lens
    for (size_t i = 0; i < sources.size(); ++i) {
        op.SetInput(AdvanceStepInputs()[i], sources_[sources[i]]);
    }
    ge::Graph graph("shared");
    graph.SetInputs(sources_).SetOutputs(std::vector<ge::Operator>{op});
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graph)));
    // Only three Data are in the graph's operators, but all six are its inputs.
    std::vector<ge::Tensor> results;
    ASSERT_TRUE(Succeeded(Session().RunGraph(1, graphs::TensorsOf(data), results)));
    data.inputTokens = data.inputPositions = data.slotMapping = data.seqLens;
    EXPECT_EQ(ValuesOf(results), graphs::OutputsOf(graphs::Advanced(data)));
}

// A control link alone orders two operators, and brings the second one into the graph.
TEST_F(ChainTest, ControlLinks) {
    const AdvanceStepData data = graphs::SmallBatch();
    auto first = After("first", nullptr);
    ge::Operator last;
    {
        auto second = After("second", nullptr);
        first.AddControlInput(second);
        last = second;
    }
    const auto once = graphs::OutputsOf(graphs::Advanced(data));
    std::vector<std::vector<int64_t>> expected = once;
    expected.insert(expected.end(), once.begin(), once.end());
    EXPECT_EQ(Run({last, first}, data), expected);
}

// Const feeds what is only read; the caller's tensor may change after AddGraph.
TEST_F(ChainTest, ConstFeedsInputs) {
    const AdvanceStepData data = graphs::SmallBatch();
    ge::Tensor tables = MakeGraphTensor({4, 4}, data.blockTables);
    auto constant = ge::op::Const("tables").set_attr_value(tables);
    auto op = graphs::MakeAdvanceStep("advance", 4, 3, 4);
    for (size_t i = 0; i < 5; ++i) {
        op.SetInput(AdvanceStepInputs()[i], sources_[i]);
    }
    op.set_input_block_tables(constant);
    sources_.pop_back();
    ge::Graph graph("constant");
    graph.SetInputs(sources_).SetOutputs(std::vector<ge::Operator>{op, constant});
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graph)));
    ASSERT_EQ(tables.SetData(std::vector<uint8_t>(128, 0xFF)), ge::GRAPH_SUCCESS);
    std::vector<ge::Tensor> inputs = graphs::TensorsOf(data);
    inputs.pop_back();
    std::vector<ge::Tensor> results;
    for (int run = 0; run < 2; ++run) {
        ASSERT_TRUE(Succeeded(Session().RunGraph(1, inputs, results)));
        auto expected = graphs::OutputsOf(graphs::Advanced(data));
        expected.push_back(data.blockTables);
        EXPECT_EQ(ValuesOf(results), expected);
    }
}

// A chain of thousands goes without recursion, when it is built, run and dropped.
TEST_F(ChainTest, ALongChain) {
    AdvanceStepData data = LongBatch();
    data.blockSize = 1024;
    std::vector<ge::Operator> last;
    ge::Operator before;
    for (int k = 0; k < 2000; ++k) {
        auto op = After("advance" + std::to_string(k), k == 0 ? nullptr : &before)
                      .set_attr_block_size(1024);
        before = op;
    }
    const auto result = Run({before}, data);
    ASSERT_EQ(result.size(), 4U);
    EXPECT_EQ(result[2], (std::vector<int64_t>{2005, 2008, 2012, 0}));
}

}  // namespace
