// SPDX-License-Identifier: Apache-2.0
// Tests of Add and PagedAttention as operators of a graph: values, shapes and refusals.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "../aclnn_paged_attention.h"
#include "../own_operator_proto.h"
#include "array_ops.h"
#include "ge/ge_api.h"
#include "op_graph/advance_step_proto.h"
#include "own_device.h"

namespace own {
namespace {

template <typename T>
ge::Tensor TensorOf(const std::vector<int64_t>& shape, const std::vector<T>& values,
                    ge::DataType type) {
    std::vector<uint8_t> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return ge::Tensor(ge::TensorDesc(ge::Shape(shape), ge::FORMAT_ND, type), bytes);
}

template <typename T>
std::vector<T> ValuesOf(const ge::Tensor& tensor) {
    std::vector<T> values(tensor.GetSize() / sizeof(T));
    std::memcpy(values.data(), tensor.GetData(), values.size() * sizeof(T));
    return values;
}

std::vector<int64_t> ShapeOf(const ge::Tensor& tensor) {
    return tensor.GetTensorDesc().GetShape().GetDims();
}

class GraphOfOwn : public testing::Test {
 protected:
    void SetUp() override { ASSERT_EQ(ge::GEInitialize({}), ge::SUCCESS); }
    void TearDown() override { ge::GEFinalize(); }

    // A graph of these operators, all of whose Data were made by NewData.
    ge::Status Run(const std::vector<ge::Operator>& outputs, const std::vector<ge::Tensor>& inputs,
                   std::vector<ge::Tensor>* results) {
        ge::Graph graph("own");
        graph.SetInputs(data_).SetOutputs(outputs);
        ge::Session session(std::map<ge::AscendString, ge::AscendString>{});
        const ge::Status added = session.AddGraph(1, graph);
        return added != ge::SUCCESS ? added : session.RunGraph(1, inputs, *results);
    }
    ge::Operator& NewData() {
        const auto index = static_cast<int64_t>(data_.size());
        data_.push_back(ge::op::Data("data" + std::to_string(index)).set_attr_index(index));
        return data_.back();
    }
    static std::string Message() { return ge::GEGetErrorMsgV2().GetString(); }

    std::vector<ge::Operator> data_;
};

TEST_F(GraphOfOwn, ASumHasTheShapeThatItsInputsBroadcastTo) {
    data_.reserve(2);
    ge::op::Add add("add");
    add.set_input_self(NewData()).set_input_other(NewData()).set_attr_alpha(10);
    std::vector<ge::Tensor> results;
    ASSERT_EQ(Run({add},
                  {TensorOf<int32_t>({2, 1}, {1, 2}, ge::DT_INT32),
                   TensorOf<int32_t>({3}, {1, 2, 3}, ge::DT_INT32)},
                  &results),
              ge::SUCCESS)
        << Message();
    ASSERT_EQ(results.size(), 1u);
    EXPECT_EQ(ShapeOf(results[0]), (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(results[0].GetTensorDesc().GetDataType(), ge::DT_INT32);
    EXPECT_EQ(ValuesOf<int32_t>(results[0]), (std::vector<int32_t>{11, 21, 31, 12, 22, 32}));
}

// AdvanceStep, the attention over the lengths that it leaves (the last row does not advance), and
// a sum of it: one graph. The attention alone, called with the advanced lengths, has the same bits.
TEST_F(GraphOfOwn, ADecodeStepIsOneGraph) {
    const int64_t seqs = 3, heads = 2, headSize = 4, blocks = 8, blockSize = 2, maxBlocks = 3;
    std::mt19937 random(1);
    const auto numbers = [&](int64_t count) {
        std::vector<float> values(static_cast<size_t>(count));
        for (float& value : values) {
            value = static_cast<float>(static_cast<int>(random() % 201) - 100) / 50;
        }
        return values;
    };
    const std::vector<float> query = numbers(seqs * heads * headSize);
    const std::vector<float> keys = numbers(blocks * blockSize * heads * headSize);
    const std::vector<float> values = numbers(blocks * blockSize * heads * headSize);
    const std::vector<int64_t> tables = {0, 3, 6, 1, 4, 7, 2, 5, 0};
    const std::vector<int64_t> before = {1, 3, 5}, advanced = {2, 4, 5};
    const std::vector<int64_t> cache = {blocks, blockSize, heads, headSize};

    std::vector<float> alone(query.size());
    {
        OwnDevice device;
        OwnTensor<float> q({seqs, heads, headSize}, query), k(cache, keys), v(cache, values),
            out({seqs, heads, headSize}, alone);
        OwnTensor<int64_t> t({seqs, maxBlocks}, tables), lens({seqs}, advanced);
        uint64_t size = 0;
        aclOpExecutor* executor = nullptr;
        ASSERT_EQ(aclnnPagedAttentionGetWorkspaceSize(q.get(), k.get(), v.get(), t.get(),
                                                      lens.get(), 0.5, out.get(), &size, &executor),
                  0);
        ASSERT_EQ(aclnnPagedAttention(nullptr, size, executor, nullptr), 0);
        ASSERT_EQ(aclrtSynchronizeStream(nullptr), 0);
        alone = out.Values();
    }

    data_.reserve(9);
    ge::op::AdvanceStep advance("advance");
    advance.set_attr_num_seqs(seqs).set_attr_num_queries(2).set_attr_block_size(blockSize);
    for (const char* input : {"input_tokens", "sampled_token_ids", "input_positions", "seq_lens",
                              "slot_mapping", "block_tables"}) {
        advance.SetInput(input, NewData());
    }
    ge::op::PagedAttention attention("attention");
    attention.set_input_query(NewData())
        .set_input_key_cache(NewData())
        .set_input_value_cache(NewData())
        .set_input_block_tables(data_[5])
        .set_input_seq_lens(advance, "seq_lens")
        .set_attr_scale(0.5F);
    ge::op::Add twice("twice");
    twice.set_input_self(attention).set_input_other(attention).set_attr_alpha(1);
    const auto column = [&](const std::vector<int64_t>& rows) {
        return TensorOf({seqs}, rows, ge::DT_INT64);
    };
    std::vector<ge::Tensor> results;
    ASSERT_EQ(
        Run({attention, twice},
            {column({1, 2, 3}), TensorOf<int64_t>({2, 1}, {7, 8}, ge::DT_INT64), column({0, 2, 4}),
             column(before), column({0, 0, 0}), TensorOf({seqs, maxBlocks}, tables, ge::DT_INT64),
             TensorOf({seqs, heads, headSize}, query, ge::DT_FLOAT),
             TensorOf(cache, keys, ge::DT_FLOAT), TensorOf(cache, values, ge::DT_FLOAT)},
            &results),
        ge::SUCCESS)
        << Message();
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(ValuesOf<float>(results[0]), alone);
    std::vector<float> doubled = alone;
    for (float& value : doubled) {
        value += value;
    }
    EXPECT_EQ(ValuesOf<float>(results[1]), doubled);
}

TEST_F(GraphOfOwn, ARefusalNamesTheOperatorAndTheArgument) {
    data_.reserve(2);
    ge::op::Add add("sum");
    add.set_input_self(NewData()).set_input_other(NewData());
    std::vector<ge::Tensor> results;
    EXPECT_EQ(Run({add},
                  {TensorOf<int32_t>({2}, {1, 2}, ge::DT_INT32),
                   TensorOf<int32_t>({3}, {1, 2, 3}, ge::DT_INT32)},
                  &results),
              ge::FAILED);
    EXPECT_NE(Message().find("the shapes of operator sum of type Add cannot be inferred: code "
                             "561002: other has shape [3]; expected one that broadcasts with self "
                             "= [2]"),
              std::string::npos);
    EXPECT_TRUE(results.empty());
}

}  // namespace
}  // namespace own
