// SPDX-License-Identifier: Apache-2.0
// Every way in which a graph or its tensors are refused; and a run after each of them succeeds.
#include "graph/error_cases.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace graphs;

class ErrorTest : public graphs::GraphTest, public testing::WithParamInterface<ErrorCase> {};

TEST_P(ErrorTest, IsRefused) {
    const ErrorCase& test = GetParam();
    Parts parts;
    test.spoil(parts);
    if (!parts.isLinked) {
        parts.Link();
    }
    if (parts.hasInputs) {
        parts.graph.SetInputs(parts.sources).SetOutputs(std::vector<ge::Operator>{parts.advance});
    }
    const auto failed = [&](ge::Status status) {
        const std::string message = ge::GEGetErrorMsgV2().GetString();
        EXPECT_EQ(status, ge::FAILED) << message;
        for (const std::string& part : test.message) {
            EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
        }
        EXPECT_STREQ(ge::GEGetErrorMsgV2().GetString(), "");
    };
    const ge::Status added = Session().AddGraph(1, parts.graph);
    if (test.at == At::kAdd) {
        failed(added);
        EXPECT_TRUE(Session().IsGraphNeedRebuild(1));
    } else {
        ASSERT_TRUE(Succeeded(added));
        if (test.at == At::kRunOnly) {
            EXPECT_TRUE(Succeeded(Session().BuildGraph(1, parts.inputs)));
        } else {
            failed(Session().BuildGraph(1, parts.inputs));
        }
        const auto before = ValuesOf(parts.inputs);
        std::vector<ge::Tensor> outputs = {MakeGraphTensor({1}, {77})};
        failed(Session().RunGraph(1, parts.inputs, outputs));
        EXPECT_EQ(ValuesOf(outputs), (std::vector<std::vector<int64_t>>{{77}}));
        EXPECT_EQ(ValuesOf(parts.inputs), before);
    }
    // The session is as good as before.
    const reference::AdvanceStepData data = graphs::SmallBatch();
    std::vector<ge::Tensor> outputs;
    ASSERT_TRUE(Succeeded(Session().AddGraph(2, graphs::MakeGraph(data))));
    ASSERT_TRUE(Succeeded(Session().RunGraph(2, graphs::TensorsOf(data), outputs)));
    EXPECT_EQ(ValuesOf(outputs), OutputsOf(graphs::Advanced(data)));
}

INSTANTIATE_TEST_SUITE_P(Table, ErrorTest, testing::ValuesIn(graphs::ErrorCases()),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
