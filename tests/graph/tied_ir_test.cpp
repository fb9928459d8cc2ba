// SPDX-License-Identifier: Apache-2.0
// Types whose IR is not that of their operator's table: what fits, and what is refused.
#include <gtest/gtest.h>

#include <vector>

#include "graph/tied_operator_fixture.h"

// Types with another IR, each tied by its own line. Only that of TestMixPlain fits the operator.
#define TEST_WRONG_IR(Type, parts)              \
    namespace ge {                              \
    REG_OP(Type) parts.OP_END_FACTORY_REG(Type) \
    }                                           \
    ADVSTEP_GRAPH_OPERATOR(Type, aclnnTestMix, graphs::Mix)
TEST_WRONG_IR(TestMixPlain,
              TEST_READ TEST_STATE TEST_SUM.ATTR(narrow, Int, 1) TEST_ATTRS(true, 2.0F, 3))
TEST_WRONG_IR(TestMixNoRead, TEST_STATE TEST_SUM)
TEST_WRONG_IR(TestMixNoSum, TEST_READ TEST_STATE)
TEST_WRONG_IR(TestMixNoOut, TEST_READ.INPUT(state, TensorType({DT_INT64})) TEST_SUM)
TEST_WRONG_IR(TestMixMore, TEST_READ TEST_STATE TEST_SUM.INPUT(more, TensorType({DT_INT64})))
TEST_WRONG_IR(TestMixMoreOut, TEST_READ TEST_STATE TEST_SUM.OUTPUT(more, TensorType({DT_INT64})))
TEST_WRONG_IR(TestMixNoNarrow, TEST_READ TEST_STATE TEST_SUM TEST_ATTRS(true, 2.0F, 3))
TEST_WRONG_IR(TestMixText,
              TEST_READ TEST_STATE TEST_SUM.ATTR(narrow, Float, 1.0F) TEST_ATTRS(true, 2.0F, 3))
TEST_WRONG_IR(TestMixExtra, TEST_READ TEST_STATE TEST_SUM.ATTR(narrow, Int, 1)
                                .ATTR(more, Int, 1) TEST_ATTRS(true, 2.0F, 3))
namespace ge {
REG_OP(TestUntied) TEST_READ TEST_SUM.OP_END_FACTORY_REG(TestUntied)
}

namespace {

using graphs::Succeeded;
using graphs::TiedOperatorTest;
using graphs::ValuesOf;
using Rows = std::vector<int64_t>;
using Tensors = std::vector<ge::Tensor>;

// The output of an input's name is an update of it, as state_out is, and an aclScalar takes an Int.
TEST_F(TiedOperatorTest, AnOutputOfTheSameNameIsAnUpdate) {
    Tensors results;
    ASSERT_TRUE(Succeeded(RunOne(ge::op::TestMixPlain("plain"), &results)));
    EXPECT_EQ(ValuesOf(results[0]), (Rows{101, 202}));
    EXPECT_EQ(ValuesOf(results[1]), (Rows{1 + 3211, 2 + 3211}));
}

TEST_F(TiedOperatorTest, AnIrThatDoesNotFitNamesOperatorAndArgument) {
    EXPECT_TRUE(Refuses(ge::op::TestMixNoRead("a"),
                        {"E19999",
                         "operator a of type TestMixNoRead has no input readIn, which "
                         "aclnnTestMix reads; expected one in its IR"}));
    EXPECT_TRUE(Refuses(ge::op::TestMixNoSum("b"),
                        {"operator b of type TestMixNoSum has no output sum, which aclnnTestMix "
                         "writes; expected one in its IR"}));
    EXPECT_TRUE(Refuses(ge::op::TestMixNoOut("c"),
                        {"operator c of type TestMixNoOut has an input state, which aclnnTestMix "
                         "writes, and no output for it; expected an output state or state_out"}));
    EXPECT_TRUE(Refuses(ge::op::TestMixMore("d"), {"operator d of type TestMixMore has an input "
                                                   "more, which its kernel does not know"}));
    EXPECT_TRUE(Refuses(ge::op::TestMixMoreOut("e"), {"operator e of type TestMixMoreOut has an "
                                                      "output more, which its kernel does not "
                                                      "know"}));
    EXPECT_TRUE(Refuses(ge::op::TestMixNoNarrow("f"),
                        {"operator f of type TestMixNoNarrow has no attribute narrow, which "
                         "aclnnTestMix takes; expected one in its IR"}));
    EXPECT_TRUE(Refuses(ge::op::TestMixText("g"), {"attribute narrow of operator g of type "
                                                   "TestMixText has another kind; expected Int"}));
    EXPECT_TRUE(Refuses(ge::op::TestMixExtra("h"), {"operator h of type TestMixExtra has an "
                                                    "attribute more, which aclnnTestMix does not "
                                                    "take"}));
    EXPECT_TRUE(Refuses(ge::op::TestUntied("i"),
                        {"EZ3003",
                         "operator i of type TestUntied has no kernel here; expected a loaded "
                         "library that ties the type"}));
}

TEST_F(TiedOperatorTest, AWrongAttributeNamesOperatorAndValue) {
    EXPECT_TRUE(Refuses(ge::op::TestMix("unset"), {"required attribute narrow of operator unset of "
                                                   "type TestMix is not set"}));
    EXPECT_TRUE(Refuses(NewMix("wide", 3000000000),
                        {"attribute narrow of operator wide of type TestMix is 3000000000; "
                         "expected -2147483648 <= narrow <= 2147483647"}));
    EXPECT_TRUE(Refuses(NewMix("forgets", -1),
                        {"Infer sets no shape for output sum of operator forgets of type TestMix; "
                         "expected one of at most 8 axes"}));
    EXPECT_TRUE(Refuses(NewMix("fails", -2), {"the shapes of operator fails of type TestMix cannot "
                                              "be inferred: code 561002: narrow is -2"}));
    EXPECT_TRUE(Refuses(NewMix("throws", -4), {"the shapes of operator throws",
                                               "561000: unknown "
                                               "exception"}));
    EXPECT_TRUE(Refuses(NewMix("leaves", -5), {"the shapes of operator leaves",
                                               "561000: it called "
                                               "pthread_exit; expected it to return"}));
    EXPECT_TRUE(Refuses(NewMix("negative", -3),
                        {"Infer sets shape [-4] and data type INT64 for output sum of operator "
                         "negative of type TestMix"}));
}

}  // namespace
