// SPDX-License-Identifier: Apache-2.0
// Graphs, device memory and a stream of the program, for tests of runs on streams.
#ifndef ADVANCE_STEP_TESTS_GRAPH_STREAM_RUN_FIXTURE_H_
#define ADVANCE_STEP_TESTS_GRAPH_STREAM_RUN_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "graph/device_tensors.h"
#include "graph/graph_parts.h"

namespace graphs {

using Tensors = std::vector<ge::Tensor>;

class StreamRunTest : public GraphTest {
 protected:
    void SetUp() override {
        GraphTest::SetUp();
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
        const std::vector<ge::Tensor> host = TensorsOf(data_);
        for (size_t i = 0; i < host.size(); ++i) {
            memory_.push_back(std::make_unique<DeviceTensor>(
                host[i].GetTensorDesc().GetShape().GetDims(), *data_.Tensors()[i]));
        }
        for (int i = 0; i < 4; ++i) {
            results_.push_back(std::make_unique<DeviceTensor>(
                std::vector<int64_t>{4}, std::vector<int64_t>{-7, -7, -7, -7}));
        }
    }
    void TearDown() override {
        memory_.clear();
        results_.clear();
        EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
        GraphTest::TearDown();
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    }
    Tensors Of(const std::vector<std::unique_ptr<DeviceTensor>>& memory) const {
        Tensors tensors;
        for (const auto& one : memory) {
            tensors.push_back(one->Tensor());
        }
        return tensors;
    }
    static std::vector<std::vector<int64_t>> Read(
        const std::vector<std::unique_ptr<DeviceTensor>>& memory) {
        std::vector<std::vector<int64_t>> values;
        for (const auto& one : memory) {
            values.push_back(one->Read());
        }
        return values;
    }
    ge::Status Run(uint32_t graphId, const Tensors& inputs, Tensors outputs) {
        return Session().RunGraphWithStreamAsync(graphId, stream_, inputs, outputs);
    }
    void Synchronize() { EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS); }
    // The operator with sources of this type.
    template <class Source>
    ge::Graph MakeGraph() {
        auto op = MakeAdvanceStep("advance", 4, 3, 4);
        std::vector<ge::Operator> sources;
        for (const char* name : AdvanceStepInputs()) {
            sources.push_back(Source(name).set_attr_index(static_cast<int64_t>(sources.size())));
            op.SetInput(name, sources.back());
        }
        ge::Graph graph("on a stream");
        graph.SetInputs(sources).SetOutputs(std::vector<ge::Operator>{op});
        return graph;
    }

    const reference::AdvanceStepData data_ = SmallBatch();
    const reference::AdvanceStepData after_ = Advanced(data_);
    aclrtStream stream_ = nullptr;
    std::vector<std::unique_ptr<DeviceTensor>> memory_;
    std::vector<std::unique_ptr<DeviceTensor>> results_;
};

}  // namespace graphs

#endif  // ADVANCE_STEP_TESTS_GRAPH_STREAM_RUN_FIXTURE_H_
