// SPDX-License-Identifier: Apache-2.0
// Graph mode with a runtime of the test's own, and graphs of one operator.
#ifndef ADVANCE_STEP_TESTS_GRAPH_GRAPH_FIXTURE_H_
#define ADVANCE_STEP_TESTS_GRAPH_GRAPH_FIXTURE_H_

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array_ops.h"
#include "ge/ge_api.h"
#include "op_graph/advance_step_proto.h"
#include "reference/advance_step_reference.h"
#include "support/graph_values.h"
#include "support/settings.h"
#include "support/watchdog.h"

namespace graphs {

using support::MakeGraphTensor;
using support::ValuesOf;

// The last messages have every one of parts; takes the messages.
inline testing::AssertionResult HasError(std::initializer_list<std::string> parts) {
    const std::string message = ge::GEGetErrorMsgV2().GetString();
    for (const std::string& part : parts) {
        if (message.find(part) == std::string::npos) {
            return testing::AssertionFailure() << "no \"" << part << "\" in: " << message;
        }
    }
    return testing::AssertionSuccess();
}

// The call failed with this status and these parts in its message.
inline testing::AssertionResult Failed(ge::Status status, std::initializer_list<std::string> parts,
                                       ge::Status expected = ge::FAILED) {
    if (status != expected) {
        return testing::AssertionFailure() << "returned " << status << ", expected " << expected
                                           << ": " << ge::GEGetErrorMsgV2().GetString();
    }
    return HasError(parts);
}

inline testing::AssertionResult Succeeded(ge::Status status) {
    if (status == ge::SUCCESS) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure()
           << "returned " << status << ": " << ge::GEGetErrorMsgV2().GetString();
}

// A runtime with settings, and graph mode not initialised.
class BareGraphTest : public testing::Test {
 protected:
    void SetUp() override { Restart({}); }
    void TearDown() override { ge::GEFinalize(); }

    void Restart(const support::Settings& settings) {
        ge::GEFinalize();
        ge::GEGetErrorMsgV2();
        ge::GEGetWarningMsgV2();
        environment_.reset();
        environment_ = std::make_unique<support::EnvironmentGuard>(settings);
    }

 private:
    support::Watchdog watchdog_{std::chrono::seconds(240)};
    std::unique_ptr<support::EnvironmentGuard> environment_;
};

// The same, initialised, with a session.
class GraphTest : public BareGraphTest {
 protected:
    void SetUp() override { RestartWithSession({}); }
    void TearDown() override {
        session_.reset();
        BareGraphTest::TearDown();
    }
    void RestartWithSession(const support::Settings& settings) {
        session_.reset();
        Restart(settings);
        ASSERT_TRUE(Succeeded(ge::GEInitialize({})));
        session_ = std::make_unique<ge::Session>(std::map<ge::AscendString, ge::AscendString>{});
    }
    ge::Session& Session() { return *session_; }

 private:
    std::unique_ptr<ge::Session> session_;
};

inline ge::op::Data MakeData(const std::string& name, int64_t index) {
    return ge::op::Data(name).set_attr_index(index);
}

inline const std::vector<const char*>& AdvanceStepInputs() {
    static const std::vector<const char*> names = {"input_tokens",    "sampled_token_ids",
                                                   "input_positions", "seq_lens",
                                                   "slot_mapping",    "block_tables"};
    return names;
}

inline ge::op::AdvanceStep MakeAdvanceStep(const std::string& name, int64_t numSeqs,
                                           int64_t numQueries, int64_t blockSize) {
    return ge::op::AdvanceStep(name)
        .set_attr_num_seqs(numSeqs)
        .set_attr_num_queries(numQueries)
        .set_attr_block_size(blockSize);
}

// A graph of one operator whose inputs all come from Data, and whose outputs are the graph's.
inline ge::Graph MakeGraph(ge::Operator op, const std::vector<const char*>& inputs) {
    std::vector<ge::Operator> sources;
    for (size_t i = 0; i < inputs.size(); ++i) {
        sources.push_back(MakeData(inputs[i], static_cast<int64_t>(i)));
        op.SetInput(inputs[i], sources.back());
    }
    ge::Graph graph("one operator");
    graph.SetInputs(sources).SetOutputs(std::vector<ge::Operator>{op});
    return graph;
}

inline ge::Graph MakeGraph(const reference::AdvanceStepData& data) {
    return MakeGraph(MakeAdvanceStep("advance", data.numSeqs, data.numQueries, data.blockSize),
                     AdvanceStepInputs());
}

// Shapes are those of the data, whatever the attributes say.
inline std::vector<ge::Tensor> TensorsOf(const reference::AdvanceStepData& data,
                                         bool columns = false) {
    std::vector<ge::Tensor> tensors;
    for (size_t i = 0; i < AdvanceStepInputs().size(); ++i) {
        const std::vector<int64_t>& values = *data.Tensors()[i];
        std::vector<int64_t> shape = {static_cast<int64_t>(values.size())};
        if (i == 5) {
            shape = {data.maxBlocks == 0 ? 0 : shape[0] / data.maxBlocks, data.maxBlocks};
        } else if (i == 1 || columns) {
            shape.push_back(1);
        }
        tensors.push_back(MakeGraphTensor(shape, values));
    }
    return tensors;
}

// What a graph of MakeGraph returns for data that has been advanced.
inline std::vector<std::vector<int64_t>> OutputsOf(const reference::AdvanceStepData& data) {
    return {data.inputTokens, data.inputPositions, data.seqLens, data.slotMapping};
}

// Four rows, three of which advance.
inline reference::AdvanceStepData SmallBatch() {
    reference::AdvanceStepData data;
    data.numSeqs = 4;
    data.numQueries = 3;
    data.blockSize = 4;
    data.maxBlocks = 4;
    data.inputTokens = {1, 2, 3, 4};
    data.sampledTokenIds = {501, 502, 503};
    data.inputPositions = {4, 7, 11, 0};
    data.seqLens = {5, 8, 12, 0};
    data.slotMapping = {9, 9, 9, 9};
    data.blockTables = {2, 7, -1, -1, 0, 5, 6, -1, 9, 1, 3, 8, 0, 0, 0, 0};
    return data;
}

inline reference::AdvanceStepData Advanced(reference::AdvanceStepData data) {
    EXPECT_FALSE(reference::AdvanceStepStandard(data).has_value());
    return data;
}

}  // namespace graphs

#endif  // ADVANCE_STEP_TESTS_GRAPH_GRAPH_FIXTURE_H_
