// SPDX-License-Identifier: Apache-2.0
// Handles of operators: copies, descriptions, links.
#include <gtest/gtest.h>

#include <utility>

#include "array_ops.h"
#include "graph/every_kind.h"

namespace {

using ge::AscendString;
using ge::GRAPH_FAILED;
using ge::GRAPH_SUCCESS;
using ge::Operator;
using ge::Shape;
using ge::TensorDesc;
using graphs::NameOf;

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
    EXPECT_EQ(empty.UpdateOutputDesc("y", TensorDesc()), GRAPH_FAILED);
    EXPECT_EQ(empty.GetInputDescByName("x").GetDataType(), ge::DT_FLOAT);
    EXPECT_EQ(empty.GetOutputDescByName("y").GetDataType(), ge::DT_FLOAT);
    empty.SetInput("x", data, "y").SetInput("x", data, 0U);
    EXPECT_EQ(empty.GetInputsSize(), 0U);
    Operator other;
    empty.SetInput("x", other).AddControlInput(other);
    EXPECT_TRUE(empty.IsEmpty() && other.IsEmpty());
}

// A name of null is that of no input.
TEST(OperatorTest, NullNamesAreNobodys) {
    ge::op::EveryKind op("every");
    EXPECT_EQ(op.UpdateInputDesc(nullptr, TensorDesc()), GRAPH_FAILED);
    EXPECT_EQ(op.GetInputDescByName(nullptr).GetDataType(), ge::DT_FLOAT);
    EXPECT_EQ(op.GetOutputDescByName(nullptr).GetDataType(), ge::DT_FLOAT);
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

}  // namespace
