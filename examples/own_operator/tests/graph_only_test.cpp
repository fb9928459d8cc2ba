// SPDX-License-Identifier: Apache-2.0
// A program that uses an operator in a graph only: it refers to no symbol of the library.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "../own_operator_proto.h"
#include "array_ops.h"
#include "ge/ge_api.h"

namespace {

TEST(GraphOnly, TheLibraryOfTheOperatorIsLoaded) {
    ASSERT_EQ(ge::GEInitialize({}), ge::SUCCESS);
    {
        auto self = ge::op::Data("self").set_attr_index(0);
        auto other = ge::op::Data("other").set_attr_index(1);
        auto add = ge::op::Add("add").set_input_self(self).set_input_other(other);
        add.set_attr_alpha(10);
        ge::Graph graph("sum");
        graph.SetInputs({self, other}).SetOutputs(std::vector<ge::Operator>{add});
        ge::Session session(std::map<ge::AscendString, ge::AscendString>{});
        ASSERT_EQ(session.AddGraph(1, graph), ge::SUCCESS);
        const float one = 1;
        std::vector<uint8_t> bytes(sizeof(one));
        std::memcpy(bytes.data(), &one, sizeof(one));
        const ge::TensorDesc desc(ge::Shape({1}), ge::FORMAT_ND, ge::DT_FLOAT);
        const ge::Tensor tensor(desc, bytes);
        std::vector<ge::Tensor> results;
        ASSERT_EQ(session.RunGraph(1, {tensor, tensor}, results), ge::SUCCESS)
            << ge::GEGetErrorMsgV2().GetString();
        ASSERT_EQ(results.size(), 1u);
        float sum = 0;
        std::memcpy(&sum, results[0].GetData(), sizeof(sum));
        EXPECT_EQ(sum, 11);
    }
    ge::GEFinalize();
}

}  // namespace
