// SPDX-License-Identifier: Apache-2.0
// Attributes of operators by name: their types, and what is refused.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "graph/every_kind.h"

namespace {

using ge::AscendString;
using ge::GRAPH_FAILED;
using ge::GRAPH_SUCCESS;
using ge::Operator;

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

}  // namespace
