// SPDX-License-Identifier: Apache-2.0
// Classes of REG_OP, and the factory that makes operators by the names of their types.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "array_ops.h"
#include "graph/every_kind.h"
#include "graph/operator_factory.h"
#include "op_graph/advance_step_proto.h"
#include "op_graph/step_proto.h"

namespace {

using ge::AscendString;
using ge::GRAPH_FAILED;
using ge::GRAPH_SUCCESS;
using ge::Operator;
using ge::OperatorFactory;
using ge::TensorDesc;
using graphs::NameOf;
using graphs::TypeOf;

TEST(OperatorClassTest, Names) {
    EXPECT_EQ(NameOf(ge::op::Data("text")), "text");
    EXPECT_EQ(NameOf(ge::op::Data(std::string("string"))), "string");
    EXPECT_EQ(NameOf(ge::op::Data(AscendString("ascend"))), "ascend");
    EXPECT_EQ(NameOf(ge::op::Data("")), "");
    EXPECT_EQ(TypeOf(ge::op::Data("x")), "Data");
    const std::string first = NameOf(ge::op::Nothing());
    EXPECT_EQ(first.rfind("Nothing_", 0), 0U) << first;
    EXPECT_NE(NameOf(ge::op::Nothing()), first);
    EXPECT_EQ(NameOf(Operator("name", "Type")), "name");
    EXPECT_EQ(TypeOf(Operator(AscendString("name"), AscendString("Type"))), "Type");
    EXPECT_EQ(NameOf(Operator("Type")).rfind("Type_", 0), 0U);
}

TEST(OperatorClassTest, DeclaresInTheOrderWritten) {
    const ge::op::EveryKind op("every");
    EXPECT_EQ(op.GetInputsSize(), 2U);
    EXPECT_EQ(op.GetOutputsSize(), 2U);
    EXPECT_EQ(ge::op::EveryKind::name_in_both(), "both");
    EXPECT_EQ(ge::op::EveryKind::name_out_second(), "second");
    EXPECT_EQ(ge::op::EveryKind::name_attr_required(), "required");
    AscendString name;
    ge::op::EveryKind::name_in_maybe(name);
    EXPECT_EQ(name, "maybe");
    ge::op::EveryKind::name_out_both(name);
    EXPECT_EQ(name, "both");
    ge::op::EveryKind::name_attr_flag(name);
    EXPECT_EQ(name, "flag");
    EXPECT_EQ(ge::op::Step().GetInputsSize(), 22U);
    EXPECT_EQ(ge::op::Step().GetOutputsSize(), 18U);
    EXPECT_EQ(ge::op::AdvanceStep().GetInputsSize(), 8U);
    EXPECT_EQ(ge::op::AdvanceStep().GetOutputsSize(), 4U);
}

TEST(OperatorClassTest, Defaults) {
    const ge::op::EveryKind op;
    EXPECT_EQ(op.get_attr_number(), -5);
    EXPECT_EQ(op.get_attr_real(), 0.25F);
    EXPECT_TRUE(op.get_attr_flag());
    EXPECT_EQ(op.get_attr_text(), "default");
    EXPECT_EQ(op.get_attr_ascend(), "ascend");
    EXPECT_EQ(op.get_attr_tensor().GetTensorDesc().GetDataType(), ge::DT_INT8);
    EXPECT_EQ(op.get_attr_type(), ge::DT_INT32);
    EXPECT_EQ(op.get_attr_numbers(), (std::vector<int64_t>{1, 2, 3}));
    EXPECT_EQ(op.get_attr_reals(), (std::vector<float>{0.5, 1.5}));
    EXPECT_EQ(op.get_attr_flags(), (std::vector<bool>{true, false}));
    EXPECT_EQ(op.get_attr_texts(), (std::vector<std::string>{"a", "b", "c"}));
    EXPECT_EQ(op.get_attr_ascends(), (std::vector<AscendString>{"d"}));
    EXPECT_EQ(op.get_attr_types(), (std::vector<ge::DataType>{ge::DT_BOOL, ge::DT_INT64}));
    EXPECT_TRUE(op.get_attr_tensors().empty());
    EXPECT_EQ(op.get_attr_matrix(), (std::vector<std::vector<int64_t>>{{1}, {2, 3}}));
    // What is required and not set reads as nothing, and is not there.
    EXPECT_EQ(op.get_attr_required(), 0);
    EXPECT_TRUE(op.get_attr_requiredTexts().empty());
    int64_t value = 3;
    EXPECT_EQ(op.GetAttr("required", value), GRAPH_FAILED);
    EXPECT_EQ(value, 3);
}

TEST(OperatorClassTest, SettersChain) {
    auto op = ge::op::EveryKind("every")
                  .set_attr_number(7)
                  .set_attr_text("literal")
                  .set_attr_ascend("other")
                  .set_attr_flags({false})
                  .set_attr_required(8)
                  .set_attr_requiredTexts({"x"});
    EXPECT_EQ(op.get_attr_number(), 7);
    EXPECT_EQ(op.get_attr_text(), "literal");
    EXPECT_EQ(op.get_attr_ascend(), "other");
    EXPECT_EQ(op.get_attr_flags(), std::vector<bool>{false});
    EXPECT_EQ(op.get_attr_required(), 8);
    EXPECT_EQ(op.get_attr_requiredTexts(), std::vector<std::string>{"x"});
}

TEST(OperatorClassTest, DynamicInputsAndOutputs) {
    ge::op::EveryKind op("every");
    ge::op::Nothing nothing("nothing");
    op.create_dynamic_input_many(2).create_dynamic_output_results(3);
    EXPECT_EQ(op.GetInputsSize(), 4U);
    EXPECT_EQ(op.GetOutputsSize(), 5U);
    auto data = ge::op::Data("data");
    op.set_dynamic_input_many(0, data).set_dynamic_input_many(1, data, "y");
    EXPECT_EQ(op.update_dynamic_output_desc_results(2, TensorDesc()), GRAPH_SUCCESS);
    EXPECT_EQ(op.update_dynamic_output_desc_results(3, TensorDesc()), GRAPH_FAILED);
}

TEST(OperatorFactoryTest, KnowsItsOwnTypesAndThoseOfPrograms) {
    for (const char* type : {"Data", "Const", "Constant", "AdvanceStep", "Step", "EveryKind"}) {
        EXPECT_TRUE(OperatorFactory::IsExistOp(type)) << type;
        const Operator made = OperatorFactory::CreateOperator("made", type);
        EXPECT_EQ(NameOf(made), "made");
        EXPECT_EQ(TypeOf(made), type);
    }
    EXPECT_EQ(OperatorFactory::CreateOperator("made", "Step").GetInputsSize(), 22U);
    EXPECT_FALSE(OperatorFactory::IsExistOp("Unknown"));
    EXPECT_FALSE(OperatorFactory::IsExistOp(nullptr));
    EXPECT_TRUE(OperatorFactory::CreateOperator("made", "Unknown").IsEmpty());
    std::vector<AscendString> types = {"stale"};
    EXPECT_EQ(OperatorFactory::GetOpsTypeList(types), GRAPH_SUCCESS);
    EXPECT_EQ(std::count(types.begin(), types.end(), AscendString("Data")), 1);
    EXPECT_EQ(std::count(types.begin(), types.end(), AscendString("EveryKind")), 1);
    EXPECT_EQ(std::count(types.begin(), types.end(), AscendString("stale")), 0);
}

TEST(OperatorFactoryTest, TheFirstRegistrationCounts) {
    const ge::OperatorCreatorRegister first(
        "Twice", [](const AscendString& name) { return Operator(name, "First"); });
    const ge::OperatorCreatorRegister second(
        "Twice", [](const AscendString& name) { return Operator(name, "Second"); });
    const ge::OperatorCreatorRegister nothing("NoCreator", nullptr);
    EXPECT_EQ(TypeOf(OperatorFactory::CreateOperator("made", "Twice")), "First");
    EXPECT_FALSE(OperatorFactory::IsExistOp("NoCreator"));
}

}  // namespace
