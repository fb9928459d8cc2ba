// SPDX-License-Identifier: Apache-2.0
// The table of refusals: a change of a good graph or its tensors, and what the message says.
#include "graph/error_cases.h"

namespace ge {
REG_OP(Softmax)
    .INPUT(x, T)
    .OUTPUT(y, T)
    .OP_END_FACTORY_REG(Softmax) REG_OP(Placeholder)
    .INPUT(x, T)
    .OUTPUT(y, T)
    .OP_END_FACTORY_REG(Placeholder)
}  // namespace ge

namespace graphs {
namespace {

ge::Tensor Resized(const ge::Tensor& tensor, size_t size) {
    ge::Tensor resized(tensor.GetTensorDesc());
    EXPECT_EQ(resized.SetData(std::vector<uint8_t>(size)), ge::GRAPH_SUCCESS);
    return resized;
}

}  // namespace

std::vector<ErrorCase> ErrorCases() {
    return {
        // Graphs.
        {"NoSetInputs", At::kAdd, [](Parts& p) { p.hasInputs = false; }, {"E19999", "SetInputs"}},
        {"SecondSetInputs",
         At::kAdd,
         [](Parts& p) {
             p.Link();
             p.graph.SetInputs(p.sources);
         },
         {"E19999", "second time"}},
        {"EmptySetInputs",
         At::kAdd,
         [](Parts& p) {
             p.hasInputs = false;
             p.graph.SetInputs({});
         },
         {"E19999", "without linked inputs"}},
        {"NoSource",
         At::kAdd,
         [](Parts& p) {
             p.Link();
             p.hasInputs = false;
             p.graph.SetInputs({p.advance});
         },
         {"E19999", "without linked inputs"}},
        {"EmptyOperator",
         At::kAdd,
         [](Parts& p) {
             p.hasInputs = false;
             p.graph.SetInputs({p.sources[0], ge::Operator()});
         },
         {"E19999", "empty operator"}},
        {"DuplicateName",
         At::kAdd,
         [](Parts& p) {
             p.sources[1] = MakeData("seq_lens", 1);
             p.Link();
         },
         {"E13009", "\"seq_lens\""}},
        // Links.
        {"UnlinkedInput",
         At::kRun,
         [](Parts& p) { p.Link(5); },
         {"E11019", "block_tables", "advance"}},
        {"UnknownInput",
         At::kRun,
         [](Parts& p) { p.advance.SetInput("no_such", p.sources[0]); },
         {"E19999", "no_such", "advance"}},
        {"NullInput",
         At::kRun,
         [](Parts& p) { p.advance.SetInput(nullptr, p.sources[0]); },
         {"E19999", "advance"}},
        {"EmptySource",
         At::kRun,
         [](Parts& p) { p.advance.SetInput("spec_token", ge::Operator()); },
         {"E19999", "spec_token", "empty"}},
        {"SecondLink",
         At::kRun,
         [](Parts& p) {
             p.Link();
             p.advance.SetInput("seq_lens", p.sources[2]);
         },
         {"E19999", "seq_lens", "second time"}},
        {"NoSelector",
         At::kRun,
         [](Parts& p) {
             auto other = MakeAdvanceStep("other", 4, 3, 4);
             p.advance.SetInput("spec_token", other);
         },
         {"E19999", "spec_token", "other", "4 outputs"}},
        {"BadIndex",
         At::kRun,
         [](Parts& p) { p.advance.SetInput("spec_token", p.sources[0], 1U); },
         {"E19999", "spec_token", "output 1", "1 outputs"}},
        {"BadOutputName",
         At::kRun,
         [](Parts& p) { p.advance.SetInput("spec_token", p.sources[0], "z"); },
         {"E19999", "spec_token", "output z"}},
        {"EmptyControlSource",
         At::kRun,
         [](Parts& p) { p.advance.AddControlInput(ge::Operator()); },
         {"E19999", "control", "advance"}},
        {"Circle",
         At::kRun,
         [](Parts& p) {
             auto other = ge::op::Constant("circle");
             other.AddControlInput(p.advance);
             p.advance.AddControlInput(other);
         },
         {"E19999", "2 of its operators depend on themselves"}},
        {"SelfLoop",
         At::kRun,
         [](Parts& p) { p.advance.SetInput("spec_token", p.advance, "seq_lens"); },
         {"E19999", "depend on themselves"}},
        {"DescWithoutLink",
         At::kRun,
         [](Parts& p) {
             EXPECT_EQ(p.advance.update_input_desc_accepted_num(Desc({4})), ge::GRAPH_SUCCESS);
         },
         {"E11019", "accepted_num", "advance"}},
        // Operators.
        {"UnsupportedType",
         At::kRun,
         [](Parts& p) {
             auto softmax = ge::op::Softmax("soft").set_input_x(p.sources[0]);
             (void)softmax;
         },
         {"Unsupported_Operator", "EZ3003", "soft", "Softmax"}},
        {"UnsupportedSource",
         At::kRun,
         [](Parts& p) {
             p.sources[1] = ge::op::Placeholder("holder");
             p.inputs.erase(p.inputs.begin() + 1);
         },
         {"Unsupported_Operator", "EZ3003", "holder", "Placeholder"}},
        {"MissingAttribute",
         At::kRun,
         [](Parts& p) { p.advance = ge::op::AdvanceStep("bare").set_attr_num_seqs(4); },
         {"E19999", "num_queries", "bare"}},
        {"AttributeOfAnotherType",
         At::kRun,
         [](Parts& p) { p.advance.SetAttr("block_size", "four"); },
         {"E19999", "block_size", "advance"}},
        {"ConstUpdatedInPlace",
         At::kRun,
         [](Parts& p) {
             p.sources[3] = ge::op::Const("constant").set_attr_value(p.inputs[3]);
             p.inputs.erase(p.inputs.begin() + 3);
         },
         {"E19999", "seq_lens", "constant"}},
        {"ConstWithoutItsBytes",
         At::kRun,
         [](Parts& p) {
             p.sources[5] = ge::op::Const("constant").set_attr_value(Resized(p.inputs[5], 8));
             p.inputs.pop_back();
         },
         {"E13025", "constant", "8 bytes", "128"}},
        {"ConstOfAnotherType",
         At::kRun,
         [](Parts& p) {
             p.sources[5] = ge::op::Const("constant");
             p.sources[5].SetAttr("value", int64_t{1});
             p.inputs.pop_back();
         },
         {"E19999", "constant", "value"}},
        // Tensors.
        {"TooFewTensors",
         At::kRun,
         [](Parts& p) { p.inputs.pop_back(); },
         {"E13025", "5 tensors", "6 Data"}},
        {"TooManyTensors",
         At::kRun,
         [](Parts& p) { p.inputs.push_back(p.inputs[0]); },
         {"E13025", "7 tensors", "6 Data"}},
        {"TooFewBytes",
         At::kRunOnly,
         [](Parts& p) { p.inputs[3] = Resized(p.inputs[3], 31); },
         {"E13025", "inputs[3]", "seq_lens", "31 bytes", "32"}},
        {"TooManyBytes",
         At::kRunOnly,
         [](Parts& p) { p.inputs[3] = Resized(p.inputs[3], 33); },
         {"E13025", "33 bytes", "32"}},
        {"NoBytesForRank0",
         At::kRunOnly,
         [](Parts& p) { p.inputs[0] = ge::Tensor(Desc({})); },
         {"E13025", "inputs[0]", "0 bytes", "8"}},
        {"NegativeDim",
         At::kRun,
         [](Parts& p) { p.inputs[0].SetTensorDesc(Desc({-1})); },
         {"E13025", "inputs[0]", "-1"}},
        {"UnknownRank",
         At::kRun,
         [](Parts& p) { p.inputs[0].SetTensorDesc(Desc({-2})); },
         {"E13025", "inputs[0]", "-2"}},
        {"NoElementSize",
         At::kRun,
         [](Parts& p) { p.inputs[0].SetTensorDesc(Desc({4}, ge::DT_STRING)); },
         {"E13025", "inputs[0]", "STRING"}},
        {"TooLarge",
         At::kRun,
         [](Parts& p) {
             p.inputs[0].SetTensorDesc(Desc({INT64_MAX, INT64_MAX}));
         },
         {"E13025", "inputs[0]"}},
        // What the operator says.
        {"Attribute",
         At::kRunOnly,
         [](Parts& p) { p.advance.set_attr_num_queries(4); },
         {kTiling, "advance", "561002", "numQueries is 4"}},
        {"Shape",
         At::kRunOnly,
         [](Parts& p) {
             p.inputs[1] = MakeGraphTensor({3}, {1, 2, 3});
         },
         {kTiling, "561002", "sampledTokenIds has shape [3]"}},
        {"DataType",
         At::kRunOnly,
         [](Parts& p) {
             p.inputs[2] = MakeGraphTensor({4}, {1, 2, 3, 4}, ge::DT_INT32);
         },
         {kTiling, "161002", "inputPositions"}},
        {"Data",
         At::kRunOnly,
         [](Parts& p) {
             p.inputs[3] = MakeGraphTensor({4}, {5, -8, 12, 0});
         },
         {"advance", "507035", "query 1"}},
        {"LoneSpecToken",
         At::kRunOnly,
         [](Parts& p) {
             p.Add("spec_token", MakeGraphTensor({3, 1}, {1, 2, 3}));
         },
         {kTiling, "spec_token", "[3, 1]", "[4, *]"}},
        {"LoneAcceptedNum",
         At::kRunOnly,
         [](Parts& p) {
             p.Add("accepted_num", MakeGraphTensor({4, 1}, {1, 2, 3, 4}));
         },
         {kTiling, "accepted_num", "[4, 1]", "[4]"}},
        {"BothOptionalInputs",
         At::kRunOnly,  // numQueries must be numSeqs now
         [](Parts& p) {
             p.Add("spec_token", MakeGraphTensor({4, 1}, {1, 2, 3, 4}));
             p.Add("accepted_num", MakeGraphTensor({4}, {0, 0, 0, 0}));
         },
         {kTiling, "561002", "aclnnAdvanceStepV2"}},
    };
}

}  // namespace graphs
