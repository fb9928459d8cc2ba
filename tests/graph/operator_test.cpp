// SPDX-License-Identifier: Apache-2.0
// Operators: classes of REG_OP, links, descriptions, attributes, the factory.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "array_ops.h"
#include "graph/operator_factory.h"
#include "graph/operator_reg.h"
#include "op_graph/advance_step_proto.h"
#include "op_graph/step_proto.h"

#define SUCCESS 0
#define FAILED -1
namespace ge {
REG_OP(EveryKind)
    .INPUT(both, NoSuchType({1, 2}))
    .OPTIONAL_INPUT(maybe, T)
    .OUTPUT(both, T)
    .OUTPUT(second, BasicType())
    .ATTR(number, Int, -5)
    .ATTR(real, Float, 0.25)
    .ATTR(flag, Bool, true)
    .ATTR(text, String, "default")
    .ATTR(ascend, AscendString, "ascend")
    .ATTR(tensor, Tensor, Tensor(TensorDesc(Shape({1, 2}), FORMAT_ND, DT_INT8)))
    .ATTR(type, Type, DT_INT32)
    .ATTR(numbers, ListInt, {1, 2, 3})
    .ATTR(reals, ListFloat, {0.5, 1.5})
    .ATTR(flags, ListBool, {true, false})
    .ATTR(texts, ListString, {"a", "b", "c"})
    .ATTR(ascends, ListAscendString, {"d"})
    .ATTR(types, ListType, {DT_BOOL, DT_INT64})
    .ATTR(tensors, ListTensor, {})
    .ATTR(matrix, ListListInt, {{1}, {2, 3}})
    .REQUIRED_ATTR(required, Int)
    .REQUIRED_ATTR(requiredTexts, ListString)
    .DATATYPE(T, TensorType::ALL())
    .DYNAMIC_INPUT(many, T)
    .DYNAMIC_OUTPUT(results, T)
    .OP_END_FACTORY_REG(EveryKind)

        REG_OP(Nothing)
    .OP_END_FACTORY_REG(Nothing)
}  // namespace ge
#undef SUCCESS
#undef FAILED

namespace {

using ge::AscendString;
using ge::GRAPH_FAILED;
using ge::GRAPH_SUCCESS;
using ge::Operator;
using ge::OperatorFactory;
using ge::Shape;
using ge::TensorDesc;

std::string NameOf(const Operator& op) {
    AscendString name;
    EXPECT_EQ(op.GetName(name), GRAPH_SUCCESS);
    return name.GetString();
}

std::string TypeOf(const Operator& op) {
    AscendString type;
    EXPECT_EQ(op.GetOpType(type), GRAPH_SUCCESS);
    return type.GetString();
}

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

TEST(OperatorTest, HandlesDenoteOneOperator) {
    ge::op::EveryKind op("every");
    Operator slice = op;
    Operator copy;
    EXPECT_TRUE(copy.IsEmpty());
    copy = slice;
    copy.SetAttr("number", int64_t{99});
    EXPECT_EQ(op.get_attr_number(), 99);
    Operator moved = std::move(slice);
    EXPECT_FALSE(moved.IsEmpty());
    const Operator& same = copy;
    copy = same;
    EXPECT_EQ(NameOf(copy), "every");
}

TEST(OperatorTest, AnEmptyHandleDoesNothing) {
    Operator empty;
    AscendString text("before");
    EXPECT_EQ(empty.GetName(text), GRAPH_FAILED);
    EXPECT_EQ(empty.GetOpType(text), GRAPH_FAILED);
    EXPECT_EQ(text, "before");
    EXPECT_EQ(empty.GetInputsSize() + empty.GetOutputsSize(), 0U);
    ge::op::Data data("data");
    empty.SetInput("x", data).AddControlInput(data).SetAttr("a", true);
    bool flag = false;
    EXPECT_EQ(empty.GetAttr("a", flag), GRAPH_FAILED);
    EXPECT_EQ(empty.UpdateInputDesc("x", TensorDesc()), GRAPH_FAILED);
    EXPECT_EQ(empty.GetOutputDescByName("y").GetDataType(), ge::DT_FLOAT);
}

TEST(OperatorTest, Descriptions) {
    ge::op::EveryKind op("every");
    const TensorDesc in(Shape({3}), ge::FORMAT_ND, ge::DT_INT8);
    const TensorDesc out(Shape({4}), ge::FORMAT_ND, ge::DT_INT64);
    EXPECT_EQ(op.update_input_desc_both(in), GRAPH_SUCCESS);
    EXPECT_EQ(op.update_output_desc_both(out), GRAPH_SUCCESS);
    EXPECT_EQ(op.get_input_desc_both().GetDataType(), ge::DT_INT8);
    EXPECT_EQ(op.get_output_desc_both().GetDataType(), ge::DT_INT64);
    EXPECT_EQ(op.UpdateInputDesc("second", in), GRAPH_FAILED);
    EXPECT_EQ(op.UpdateOutputDesc("maybe", in), GRAPH_FAILED);
    EXPECT_EQ(op.UpdateOutputDesc(nullptr, in), GRAPH_FAILED);
    EXPECT_EQ(op.GetInputDescByName("nowhere").GetDataType(), ge::DT_FLOAT);
}

TEST(OperatorTest, ALinkCopiesTheDescription) {
    ge::op::Data data("data");
    ge::op::EveryKind op("every");
    EXPECT_EQ(data.update_output_desc_y(TensorDesc(Shape({6}), ge::FORMAT_ND, ge::DT_INT16)),
              GRAPH_SUCCESS);
    op.set_input_both(data);
    EXPECT_EQ(op.get_input_desc_both().GetDataType(), ge::DT_INT16);
    ge::op::EveryKind byIndex("index");
    EXPECT_EQ(op.update_output_desc_second(TensorDesc(Shape({6}), ge::FORMAT_ND, ge::DT_BF16)),
              GRAPH_SUCCESS);
    byIndex.set_input_both(op, 1).set_input_maybe_by_name(op, "second");
    EXPECT_EQ(byIndex.get_input_desc_both().GetDataType(), ge::DT_BF16);
    EXPECT_EQ(byIndex.get_input_desc_maybe().GetDataType(), ge::DT_BF16);
    ge::op::EveryKind byName("name");
    byName.set_input_both(op, "second");
    EXPECT_EQ(byName.get_input_desc_both().GetDataType(), ge::DT_BF16);
}

TEST(OperatorAttrTest, IntegersAreOneType) {
    Operator op("op", "Type");
    op.SetAttr("a", int32_t{-3}).SetAttr("b", uint32_t{4000000000U}).SetAttr("c", int64_t{1} << 40);
    int64_t wide = 0;
    int32_t narrow = 0;
    uint32_t positive = 0;
    EXPECT_EQ(op.GetAttr("a", wide), GRAPH_SUCCESS);
    EXPECT_EQ(wide, -3);
    EXPECT_EQ(op.GetAttr("a", narrow), GRAPH_SUCCESS);
    EXPECT_EQ(narrow, -3);
    EXPECT_EQ(op.GetAttr("a", positive), GRAPH_FAILED);
    EXPECT_EQ(op.GetAttr("b", positive), GRAPH_SUCCESS);
    EXPECT_EQ(positive, 4000000000U);
    EXPECT_EQ(op.GetAttr("b", narrow), GRAPH_FAILED);
    EXPECT_EQ(op.GetAttr("c", positive), GRAPH_FAILED);
    EXPECT_EQ(op.GetAttr("c", wide), GRAPH_SUCCESS);
    EXPECT_EQ(wide, int64_t{1} << 40);
}

TEST(OperatorAttrTest, StringsAreOneType) {
    Operator op("op", "Type");
    op.SetAttr("literal", "text").SetAttr("std", std::string("text"));
    op.SetAttr("ascend", AscendString("text")).SetAttr("null", static_cast<const char*>(nullptr));
    for (const char* name : {"literal", "std", "ascend"}) {
        std::string text;
        AscendString ascend;
        EXPECT_EQ(op.GetAttr(name, text), GRAPH_SUCCESS);
        EXPECT_EQ(op.GetAttr(name, ascend), GRAPH_SUCCESS);
        EXPECT_EQ(text, "text");
        EXPECT_EQ(ascend, "text");
    }
    std::string text = "x";
    EXPECT_EQ(op.GetAttr("null", text), GRAPH_SUCCESS);
    EXPECT_EQ(text, "");
    op.SetAttr("list", std::vector<AscendString>{"a", "b"});
    std::vector<std::string> texts;
    EXPECT_EQ(op.GetAttr("list", texts), GRAPH_SUCCESS);
    EXPECT_EQ(texts, (std::vector<std::string>{"a", "b"}));
}

// Every kind of value is found under its own type and no other.
TEST(OperatorAttrTest, OtherTypesAreRefused) {
    ge::op::EveryKind op("every");
    int64_t number = 1;
    float real = 2;
    bool flag = true;
    ge::DataType type = ge::DT_INT8;
    std::string text = "t";
    std::vector<int64_t> numbers = {4};
    std::vector<std::vector<int64_t>> matrix;
    EXPECT_EQ(op.GetAttr("real", number), GRAPH_FAILED);
    EXPECT_EQ(op.GetAttr("number", real), GRAPH_FAILED);
    EXPECT_EQ(op.GetAttr("number", flag), GRAPH_FAILED);
    EXPECT_EQ(op.GetAttr("number", type), GRAPH_FAILED);
    EXPECT_EQ(op.GetAttr("type", number), GRAPH_FAILED);
    EXPECT_EQ(op.GetAttr("number", text), GRAPH_FAILED);
    EXPECT_EQ(op.GetAttr("matrix", numbers), GRAPH_FAILED);
    EXPECT_EQ(op.GetAttr("numbers", matrix), GRAPH_FAILED);
    EXPECT_EQ(op.GetAttr("missing", number), GRAPH_FAILED);
    EXPECT_EQ(op.GetAttr(nullptr, number), GRAPH_FAILED);
    EXPECT_EQ(number, 1);
    EXPECT_EQ(numbers, std::vector<int64_t>{4});
    op.SetAttr("number", 1.5F);  // an attribute may change its type
    EXPECT_EQ(op.GetAttr("number", real), GRAPH_SUCCESS);
    EXPECT_EQ(real, 1.5F);
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
