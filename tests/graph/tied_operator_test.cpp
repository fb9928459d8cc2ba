// SPDX-License-Identifier: Apache-2.0
// Operators of other libraries in graphs: values on the worker and on streams, and ties.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/device_tensors.h"
#include "graph/tied_operator_fixture.h"

ADVSTEP_OPERATOR(aclnnTestMix, graphs::Mix,
                 (const aclTensor* readIn, const aclTensor* bias, aclTensor* state, int32_t narrow,
                  bool flag, double real, const aclScalar* scale, const aclIntArray* ints,
                  const aclFloatArray* reals, const aclBoolArray* bools, aclTensor* sum),
                 (readIn, bias, state, narrow, flag, real, scale, ints, reals, bools, sum))
ADVSTEP_GRAPH_OPERATOR(TestMix, aclnnTestMix, graphs::Mix)

namespace {

using namespace graphs;
using Tensors = std::vector<ge::Tensor>;
using Rows = std::vector<int64_t>;

// 7 + 10 + 200 + 3000, then 9 * 10000, 6 * 100000, 2 * 1000000 and 6 values of lists.
constexpr int64_t kNumber = 7 + 10 + 200 + 3000 + 90000 + 600000 + 2000000 + 60000000;

TEST_F(TiedOperatorTest, RunsWithAttributesOfEveryKind) {
    Tensors results;
    ASSERT_TRUE(Succeeded(RunOne(NewMix("mix"), &results)));
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(ValuesOf(results[0]), (Rows{101, 202}));
    EXPECT_EQ(ValuesOf(results[1]), (Rows{1 + kNumber, 2 + kNumber}));
    auto other = NewMix("other", 1);
    other.set_attr_flag(false).set_attr_real(0).set_attr_scale(0).set_attr_ints({});
    other.set_attr_reals({}).set_attr_bools({});
    ASSERT_TRUE(Succeeded(RunOne(other, &results)));
    EXPECT_EQ(ValuesOf(results[1]), (Rows{2, 3}));
}

// A chain: the sum of the first is the state and the bias of the second.
ge::Graph MakeChain(ge::op::TestMix first, ge::op::TestMix second) {
    auto read = graphs::MakeData("read", 0);
    auto state = graphs::MakeData("state", 1);
    first.set_input_read_in(read).set_input_state(state);
    second.set_input_read_in(read).set_input_bias(first, "sum").set_input_state(first, "sum");
    ge::Graph graph("chain");
    graph.SetInputs({read, state}).SetOutputs(std::vector<ge::Operator>{second});
    return graph;
}
const Rows kChainState = {2 + kNumber, 4 + kNumber};
const Rows kChainSum = {2 + 2 * kNumber, 4 + 2 * kNumber};

TEST_F(TiedOperatorTest, ANewOutputIsAValueLikeAnother) {
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeChain(NewMix("first"), NewMix("second")))));
    Tensors results;
    const Tensors inputs = {MakeGraphTensor({2}, {1, 2}), MakeGraphTensor({2}, {5, 6})};
    ASSERT_TRUE(Succeeded(Session().BuildGraph(1, inputs)));
    for (int run = 0; run < 2; ++run) {
        ASSERT_TRUE(Succeeded(Session().RunGraph(1, inputs, results)));
        EXPECT_EQ(ValuesOf(results), (std::vector<Rows>{kChainState, kChainSum}));
    }
}

TEST_F(TiedOperatorTest, AStreamRunWritesTheMemoryOfTheProgram) {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeChain(NewMix("first"), NewMix("second")))));
    {
        aclrtStream stream = nullptr;
        ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
        const DeviceTensor read({2}, {1, 2}), state({2}, {5, 6}), out({2}, {0, 0}),
            sum({2}, {0, 0});
        const Tensors inputs = {read.Tensor(), state.Tensor()};
        for (int run = 0; run < 2; ++run) {
            out.Write({0, 0});
            sum.Write({0, 0});
            Tensors outputs = {out.Tensor(), sum.Tensor()};
            ASSERT_TRUE(Succeeded(Session().RunGraphWithStreamAsync(1, stream, inputs, outputs)));
            ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
            EXPECT_EQ(out.Read(), kChainState);
            EXPECT_EQ(sum.Read(), kChainSum);
            EXPECT_EQ(state.Read(), (Rows{5, 6}));
        }
        ASSERT_TRUE(Succeeded(Session().RemoveGraph(1)));
        ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    }
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

struct WrongTie {
    const char* type;
    void (*change)(AdvStepGraphOperator*);
    const char* says;
};

TEST_F(TiedOperatorTest, AWrongTieIsRefusedWhenItIsMadeAndWhenItsTypeRuns) {
    static constexpr AdvStepGraphAttribute kNameless = {"", ADVSTEP_GRAPH_INT, 0, 1};
    static constexpr AdvStepGraphAttribute kNoKind = {"a", 12, 0, 1};
    static constexpr AdvStepGraphAttribute kNoTensor = {"a", ADVSTEP_GRAPH_INPUT_INTS, 0, 1};
    const WrongTie wrong[] = {
        {"", [](AdvStepGraphOperator*) {}, "type is empty; expected the name of REG_OP"},
        {"Step", [](AdvStepGraphOperator*) {}, "which graph mode has itself"},
        {"WrongBytes", [](AdvStepGraphOperator* t) { t->structBytes = 8; },
         "it has structBytes 8; expected "},
        {"WrongTable", [](AdvStepGraphOperator* t) { t->table = nullptr; }, "table is null"},
        {"WrongPlan", [](AdvStepGraphOperator* t) { t->plan = nullptr; }, "plan is null"},
        {"WrongRun", [](AdvStepGraphOperator* t) { t->run = nullptr; }, "run is null"},
        {"WrongCount", [](AdvStepGraphOperator* t) { t->attributeCount = 33; },
         "attributeCount is 33; expected 0 to 32 attributes"},
        {"WrongName", [](AdvStepGraphOperator* t) { t->attributes = &kNameless; },
         "attribute 0 has no name"},
        {"WrongKind", [](AdvStepGraphOperator* t) { t->attributes = &kNoKind; },
         "attribute a has kind 12; expected 0 to 11, or 13"},
        {"WrongFact", [](AdvStepGraphOperator* t) { t->attributes = &kNoTensor; },
         "attribute a has kind 9, and the table has no tensor of its name; expected one"},
    };
    for (const WrongTie& one : wrong) {
        auto* const tie = new AdvStepGraphOperator(advstepGraphOperatorOf_TestMix);
        tie->type = one.type;
        one.change(tie);
        EXPECT_EQ(advstepTieGraphOperator(tie), ACLNN_ERR_PARAM_INVALID) << one.type;
        const std::string message = aclGetRecentErrMsg();
        EXPECT_NE(message.find(one.says), std::string::npos) << message;
        if (tie->structBytes != 8 && one.type[0] == 'W') {
            const AdvStepGraphOperator* found = tie;
            EXPECT_EQ(advstepFindGraphOperator(one.type, &found), ACLNN_ERR_PARAM_INVALID);
            EXPECT_EQ(found, nullptr);
        }
        delete tie;
    }
    ge::Operator op("node", "WrongPlan");
    auto data = graphs::MakeData("data", 0);
    op.AddControlInput(data);
    ge::Graph graph("wrong");
    graph.SetInputs({data}).SetOutputs(std::vector<ge::Operator>{data});
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graph)));
    Tensors results;
    EXPECT_TRUE(Failed(Session().RunGraph(1, {MakeGraphTensor({1}, {1})}, results),
                       {"EZ3003", "operator node of type WrongPlan cannot run: ",
                        "the tie of graph operator WrongPlan in the program is wrong: plan is "
                        "null"}));
}

TEST_F(TiedOperatorTest, ALaterTieOfATypeIsIgnored) {
    static constexpr AdvStepGraphOperator kOther = advstepGraphOperatorOf_TestMix;
    EXPECT_EQ(advstepTieGraphOperator(&kOther), ACLNN_SUCCESS);
    EXPECT_EQ(advstepTieGraphOperator(&advstepGraphOperatorOf_TestMix), ACLNN_SUCCESS);
    static AdvStepGraphOperator wrong = advstepGraphOperatorOf_TestMix;
    wrong.run = nullptr;
    EXPECT_EQ(advstepTieGraphOperator(&wrong), ACLNN_ERR_PARAM_INVALID);
    const AdvStepGraphOperator* found = nullptr;
    EXPECT_EQ(advstepFindGraphOperator("TestMix", &found), ACLNN_SUCCESS);
    EXPECT_EQ(found, &advstepGraphOperatorOf_TestMix);
    EXPECT_EQ(advstepFindGraphOperator("NoType", &found), ACLNN_SUCCESS);
    EXPECT_EQ(found, nullptr);
    EXPECT_EQ(advstepFindGraphOperator(nullptr, &found), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(advstepFindGraphOperator("TestMix", nullptr), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(advstepTieGraphOperator(nullptr), ACLNN_ERR_PARAM_NULLPTR);
}

}  // namespace
