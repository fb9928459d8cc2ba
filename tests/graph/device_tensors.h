// SPDX-License-Identifier: Apache-2.0
// Tensors in device memory, and a graph whose state is Variables, for tests of runs on streams.
#ifndef ADVANCE_STEP_TESTS_GRAPH_DEVICE_TENSORS_H_
#define ADVANCE_STEP_TESTS_GRAPH_DEVICE_TENSORS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "graph/graph_fixture.h"
#include "support/handles.h"

namespace graphs {

// Device memory with a tensor that denotes it.
class DeviceTensor {
 public:
    explicit DeviceTensor(const std::vector<int64_t>& shape, const std::vector<int64_t>& values)
        : size_(values.size() * sizeof(int64_t)) {
        EXPECT_EQ(aclrtMalloc(&memory_, std::max<size_t>(size_, 8), ACL_MEM_MALLOC_NORMAL_ONLY), 0);
        Write(values);
        tensor_ = Describe(ge::Shape(shape));
    }
    DeviceTensor(const DeviceTensor&) = delete;
    DeviceTensor& operator=(const DeviceTensor&) = delete;
    ~DeviceTensor() { EXPECT_EQ(aclrtFree(memory_), ACL_SUCCESS); }

    void Write(const std::vector<int64_t>& values) const {
        if (size_ > 0) {
            EXPECT_EQ(aclrtMemcpy(memory_, size_, values.data(), size_, ACL_MEMCPY_HOST_TO_DEVICE),
                      ACL_SUCCESS);
        }
    }
    std::vector<int64_t> Read() const {
        std::vector<int64_t> values(size_ / sizeof(int64_t));
        if (size_ > 0) {
            EXPECT_EQ(aclrtMemcpy(values.data(), size_, memory_, size_, ACL_MEMCPY_DEVICE_TO_HOST),
                      ACL_SUCCESS);
        }
        return values;
    }
    const ge::Tensor& Tensor() const { return tensor_; }

 private:
    ge::Tensor Describe(const ge::Shape& shape) const {
        ge::Tensor tensor(ge::TensorDesc(shape, ge::FORMAT_ND, ge::DT_INT64));
        EXPECT_EQ(tensor.SetData(static_cast<uint8_t*>(memory_), size_, [](uint8_t*) {}),
                  ge::GRAPH_SUCCESS);
        return tensor;
    }

    void* memory_ = nullptr;
    size_t size_;
    ge::Tensor tensor_;
};

inline ge::op::Variable MakeVariable(const char* name, const std::vector<int64_t>& values) {
    ge::op::Variable variable(name);
    variable.set_attr_value(MakeGraphTensor({static_cast<int64_t>(values.size())}, values));
    return variable;
}

// Links every input of the operator with a RefData of that name, and returns these in their order.
inline std::vector<ge::Operator> LinkReferences(ge::op::AdvanceStep* advance) {
    std::vector<ge::Operator> sources;
    for (const char* name : AdvanceStepInputs()) {
        sources.push_back(
            ge::op::RefData(name).set_attr_index(static_cast<int64_t>(sources.size())));
        advance->SetInput(name, sources.back());
    }
    return sources;
}

// A decode step: tokens and tables from outside, and positions, lengths and slots as state.
inline ge::Graph MakeDecodeGraph(const reference::AdvanceStepData& data, bool hasOutputs = false) {
    auto advance = MakeAdvanceStep("advance", data.numSeqs, data.numQueries, data.blockSize);
    auto sampled = MakeData("sampled", 0);
    auto tables = MakeData("tables", 1);
    auto tokens = MakeVariable("tokens", data.inputTokens);
    auto positions = MakeVariable("positions", data.inputPositions);
    auto lengths = MakeVariable("lengths", data.seqLens);
    auto slots = MakeVariable("slots", data.slotMapping);
    advance.set_input_input_tokens(tokens).set_input_sampled_token_ids(sampled);
    advance.set_input_input_positions(positions).set_input_seq_lens(lengths);
    advance.set_input_slot_mapping(slots).set_input_block_tables(tables);
    ge::Graph graph("decode");
    graph.SetInputs({sampled, tables});
    if (hasOutputs) {
        graph.SetOutputs(std::vector<ge::Operator>{advance});
    }
    return graph;
}

inline std::vector<std::vector<int64_t>> StateOf(ge::Session& session) {
    std::vector<ge::Tensor> tensors;
    EXPECT_TRUE(
        Succeeded(session.GetVariables({"tokens", "positions", "lengths", "slots"}, tensors)));
    return ValuesOf(tensors);
}

}  // namespace graphs

#endif  // ADVANCE_STEP_TESTS_GRAPH_DEVICE_TENSORS_H_
