// SPDX-License-Identifier: Apache-2.0
// Inference from the tensors of a run: shapes, data types, optional inputs.
#include <gtest/gtest.h>

#include "graph/graph_parts.h"

namespace {

using namespace graphs;

class OptionalInputTest : public graphs::GraphTest {};

// Alone, or empty, the optional inputs change nothing.
TEST_F(OptionalInputTest, AloneOrEmpty) {
    const reference::AdvanceStepData data = graphs::SmallBatch();
    const std::vector<int64_t> four = {0, 0, 0, 0};
    const std::vector<std::pair<ge::Tensor, ge::Tensor>> pairs = {
        {MakeGraphTensor({4, 1}, four), MakeGraphTensor({0}, {})},
        {MakeGraphTensor({4, 0}, {}), MakeGraphTensor({4}, four)},
        {MakeGraphTensor({0}, {}), MakeGraphTensor({0}, {})}};
    uint32_t graphId = 0;
    for (const auto& [specToken, acceptedNum] : pairs) {
        Parts parts;
        parts.Link();
        parts.Add("spec_token", specToken);
        parts.Add("accepted_num", acceptedNum);
        parts.graph.SetInputs(parts.sources).SetOutputs(std::vector<ge::Operator>{parts.advance});
        ASSERT_TRUE(Succeeded(Session().AddGraph(++graphId, parts.graph)));
        std::vector<ge::Tensor> outputs;
        ASSERT_TRUE(Succeeded(Session().RunGraph(graphId, parts.inputs, outputs)));
        EXPECT_EQ(ValuesOf(outputs), OutputsOf(graphs::Advanced(data)));
    }
    Parts parts;
    parts.Link();
    parts.Add("spec_token", MakeGraphTensor({4, 2}, std::vector<int64_t>(8)));
    parts.graph.SetInputs(parts.sources).SetOutputs(std::vector<ge::Operator>{parts.advance});
    ASSERT_TRUE(Succeeded(Session().AddGraph(++graphId, parts.graph)));
    std::vector<ge::Tensor> outputs;
    ASSERT_TRUE(Succeeded(Session().RunGraph(graphId, parts.inputs, outputs)));
    EXPECT_EQ(ValuesOf(outputs), OutputsOf(graphs::Advanced(data)));
}

class InferenceTest : public graphs::GraphTest {};

// Whatever the graph declares, shapes and data types are those of the tensors; outputs take
// input_tokens' shape. Block tables may be INT32, as for the aclnn call.
TEST_F(InferenceTest, OutputsAreLikeInputTokens) {
    const reference::AdvanceStepData data = graphs::SmallBatch();
    Parts parts;
    for (ge::Operator& source : parts.sources) {
        EXPECT_EQ(source.UpdateOutputDesc("y", Desc({-1, -2}, ge::DT_FLOAT)), ge::GRAPH_SUCCESS);
    }
    parts.Link();
    EXPECT_EQ(parts.advance.update_output_desc_seq_lens(Desc({9}, ge::DT_BOOL)), ge::GRAPH_SUCCESS);
    parts.graph.SetInputs(parts.sources).SetOutputs(std::vector<ge::Operator>{parts.advance});
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, parts.graph)));
    parts.inputs[0] = MakeGraphTensor({4, 1}, data.inputTokens);
    parts.inputs[5] = MakeGraphTensor({4, 4}, data.blockTables, ge::DT_INT32);
    ge::TensorDesc device = parts.inputs[2].GetTensorDesc();
    device.SetPlacement(ge::kPlacementDevice);
    device.SetFormat(ge::FORMAT_NCHW);
    parts.inputs[2].SetTensorDesc(device);
    std::vector<ge::Tensor> outputs;
    ASSERT_TRUE(Succeeded(Session().RunGraph(1, parts.inputs, outputs)));
    EXPECT_EQ(ValuesOf(outputs), OutputsOf(graphs::Advanced(data)));
    for (const ge::Tensor& output : outputs) {
        EXPECT_EQ(output.GetTensorDesc().GetShape().GetDims(), (std::vector<int64_t>{4, 1}));
        EXPECT_EQ(output.GetTensorDesc().GetDataType(), ge::DT_INT64);
        EXPECT_EQ(output.GetTensorDesc().GetFormat(), ge::FORMAT_ND);
        EXPECT_EQ(output.GetSize(), 32U);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(output.GetData()) % 64, 0U);
    }
    // Another shape in the next run is fine, if it fits the attributes: here it does not.
    reference::AdvanceStepData wide = data;
    wide.maxBlocks = 1;
    wide.blockTables = {1, 2, 3, 4};
    EXPECT_TRUE(
        Failed(Session().RunGraph(1, graphs::TensorsOf(wide), outputs), {"507035", "query 0"}));
}

// Under conformance vllm the aclnn call takes INT32 lengths; outputs of a graph cannot.
TEST_F(InferenceTest, LengthsOfAnotherTypeAreRefused) {
    ASSERT_NO_FATAL_FAILURE(RestartWithSession({{"ADVANCE_STEP_CONFORMANCE", "vllm"}}));
    const reference::AdvanceStepData data = graphs::SmallBatch();
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graphs::MakeGraph(data))));
    std::vector<ge::Tensor> inputs = graphs::TensorsOf(data);
    inputs[3] = MakeGraphTensor({4}, data.seqLens, ge::DT_INT32);
    std::vector<ge::Tensor> outputs;
    EXPECT_TRUE(Failed(Session().RunGraph(1, inputs, outputs), {kTiling, "seq_lens", "16 bytes"}));
}

}  // namespace
