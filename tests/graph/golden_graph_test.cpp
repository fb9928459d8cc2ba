// SPDX-License-Identifier: Apache-2.0
// The golden cases of AdvanceStep, AdvanceStepV2 and Step through graph mode.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "graph/graph_fixture.h"
#include "op_graph/step_proto.h"
#include "reference/step_invariants.h"
#include "support/golden.h"
#include "support/status.h"
#include "support/step_golden.h"

namespace {

using namespace graphs;
using reference::StepOutcome;

struct Setting {
    const char* conformance;
    int cores;
};

class AdvanceStepGraphTest : public graphs::GraphTest,
                             public testing::WithParamInterface<Setting> {};

TEST_P(AdvanceStepGraphTest, ThroughGraphs) {
    ASSERT_NO_FATAL_FAILURE(
        RestartWithSession({{"ADVANCE_STEP_CONFORMANCE", GetParam().conformance},
                            {"ADVANCE_STEP_SOC", "sim:" + std::to_string(GetParam().cores)}}));
    uint32_t graphId = 0;
    int ran = 0;
    for (const support::GoldenCase& golden :
         support::LoadGolden(ADVANCE_STEP_TEST_DATA "/advance_step.jsonl")) {
        if (golden.conformance != GetParam().conformance || golden.cores != GetParam().cores) {
            continue;
        }
        SCOPED_TRACE(golden.name);
        ASSERT_TRUE(Succeeded(Session().AddGraph(++graphId, graphs::MakeGraph(golden.in))));
        for (const bool columns : {false, true}) {
            const std::vector<ge::Tensor> inputs = graphs::TensorsOf(golden.in, columns);
            const auto before = ValuesOf(inputs);
            std::vector<ge::Tensor> outputs = {MakeGraphTensor({1}, {77})};
            const ge::Status status = Session().RunGraph(graphId, inputs, outputs);
            if (golden.expect == "ok") {
                ASSERT_TRUE(Succeeded(status));
                EXPECT_EQ(ValuesOf(outputs), graphs::OutputsOf(golden.out));
                for (const ge::Tensor& output : outputs) {
                    EXPECT_EQ(output.GetTensorDesc().GetShape().GetDims(),
                              inputs[0].GetTensorDesc().GetShape().GetDims());
                }
            } else if (golden.expect == "plan_error") {
                EXPECT_TRUE(Failed(status, {"Tiling func of op AdvanceStep failed", "561002"}));
            } else {
                const std::string query = support::NumbersIn(golden.reason).at(0);
                EXPECT_TRUE(Failed(status, {"507035", "query " + query + ":", "advance"}));
            }
            if (golden.expect != "ok") {
                EXPECT_EQ(ValuesOf(outputs), (std::vector<std::vector<int64_t>>{{77}}));
            }
            EXPECT_EQ(ValuesOf(inputs), before);
        }
        ++ran;
    }
    EXPECT_GE(ran, 20);
}

INSTANTIATE_TEST_SUITE_P(Conformances, AdvanceStepGraphTest,
                         testing::Values(Setting{"standard", 40}, Setting{"vllm", 40},
                                         Setting{"exact", 40}, Setting{"exact", 48}),
                         [](const auto& of) {
                             return of.param.conformance + std::to_string(of.param.cores);
                         });

class V2GraphTest : public graphs::GraphTest {};

std::vector<int64_t> Flat(const nlohmann::json& tensor) {
    std::vector<int64_t> values;
    for (const auto& entry : tensor) {
        const auto row = entry.is_array() ? entry.get<std::vector<int64_t>>()
                                          : std::vector<int64_t>{entry.get<int64_t>()};
        values.insert(values.end(), row.begin(), row.end());
    }
    return values;
}

TEST_F(V2GraphTest, ThroughGraphs) {
    const std::vector<const char*> names = {"input_tokens", "sampled_token_ids", "input_positions",
                                            "seq_lens",     "slot_mapping",      "block_tables",
                                            "spec_token",   "accepted_num"};
    std::ifstream file(ADVANCE_STEP_TEST_DATA "/advance_step_v2.jsonl");
    uint32_t graphId = 0;
    for (std::string line; std::getline(file, line);) {
        const auto json = nlohmann::json::parse(line);
        SCOPED_TRACE(json.at("name"));
        const int64_t numSeqs = json.at("numSeqs");
        const int64_t specNum = json.at("specNum");
        const int64_t rows = numSeqs * (specNum + 1);
        const std::vector<std::vector<int64_t>> shapes = {{rows},
                                                          {numSeqs, specNum + 1},
                                                          {rows},
                                                          {rows},
                                                          {rows},
                                                          {numSeqs, json.at("columns")},
                                                          {numSeqs, specNum},
                                                          {numSeqs}};
        std::vector<ge::Tensor> inputs;
        for (size_t i = 0; i < names.size(); ++i) {
            inputs.push_back(MakeGraphTensor(shapes[i], Flat(json.at("in").at(names[i]))));
        }
        const ge::Graph graph = graphs::MakeGraph(
            graphs::MakeAdvanceStep("v2", numSeqs, numSeqs, json.at("blockSize")), names);
        ASSERT_TRUE(Succeeded(Session().AddGraph(++graphId, graph)));
        std::vector<ge::Tensor> outputs;
        const ge::Status status = Session().RunGraph(graphId, inputs, outputs);
        if (json.at("expect") != "ok") {
            EXPECT_TRUE(Failed(status, {"507035", "query "}));
            continue;
        }
        ASSERT_TRUE(Succeeded(status));
        std::vector<std::vector<int64_t>> expected;
        for (const char* name : {"input_tokens", "input_positions", "seq_lens", "slot_mapping"}) {
            const auto& from = json.at("out").contains(name) ? json.at("out") : json.at("in");
            expected.push_back(Flat(from.at(name)));
        }
        EXPECT_EQ(ValuesOf(outputs), expected);
    }
    EXPECT_EQ(graphId, 44U);
}

ge::DataType StepType(size_t tensor) {
    if (reference::IsStepFlag(tensor)) {
        return ge::DT_BOOL;
    }
    return tensor >= reference::kInputIds ? ge::DT_INT64 : ge::DT_INT32;
}

std::vector<ge::Tensor> TensorsOf(const reference::StepData& data) {
    std::vector<ge::Tensor> tensors;
    for (size_t i = 0; i < support::kStepTensors; ++i) {
        tensors.push_back(
            MakeGraphTensor(reference::StepShape(data.dims, i), data.tensors[i], StepType(i)));
    }
    return tensors;
}

std::vector<std::string> StepNames() {
    std::vector<std::string> names;
    for (const char* name : support::kStepTensorNames) {
        names.push_back(support::SnakeCase(name));
    }
    return names;
}

ge::Graph MakeStepGraph(int64_t blockSize) {
    static const std::vector<std::string> names = StepNames();
    std::vector<const char*> texts;
    for (const std::string& name : names) {
        texts.push_back(name.c_str());
    }
    return graphs::MakeGraph(
        ge::op::Step("step").set_attr_block_size(blockSize).set_attr_encoder_decoder_block_num(1),
        texts);
}

// What a run returns and what it only reads, as one state.
reference::StepData StateAfter(reference::StepData data, const std::vector<ge::Tensor>& outputs) {
    size_t next = 0;
    for (size_t i = 0; i < support::kStepTensors; ++i) {
        if (!support::IsStepInput(i)) {
            data.tensors[i] = ValuesOf(outputs.at(next++));
        }
    }
    EXPECT_EQ(next, outputs.size());
    return data;
}

class StepGraphTest : public graphs::GraphTest, public testing::WithParamInterface<const char*> {};

TEST_P(StepGraphTest, ThroughGraphs) {
    const std::string conformance = GetParam();
    ASSERT_NO_FATAL_FAILURE(RestartWithSession({{"ADVANCE_STEP_CONFORMANCE", conformance}}));
    uint32_t graphId = 0;
    for (const support::StepGoldenCase& golden :
         support::LoadStepGolden(ADVANCE_STEP_TEST_DATA "/step_" + conformance + ".jsonl")) {
        SCOPED_TRACE(golden.name);
        ASSERT_TRUE(
            Succeeded(Session().AddGraph(++graphId, MakeStepGraph(golden.in.dims.blockSize))));
        const std::vector<ge::Tensor> inputs = TensorsOf(golden.in);
        std::vector<ge::Tensor> outputs;
        const ge::Status status = Session().RunGraph(graphId, inputs, outputs);
        if (golden.outcome == StepOutcome::kOk) {
            ASSERT_TRUE(Succeeded(status));
            EXPECT_EQ(StateAfter(golden.in, outputs).tensors, golden.out.tensors);
        } else {
            EXPECT_TRUE(
                Failed(status, {golden.outcome == StepOutcome::kNoProgress ? "207005" : "507035"}));
        }
        EXPECT_EQ(ValuesOf(inputs), ValuesOf(TensorsOf(golden.in)));
    }
    EXPECT_EQ(graphId, 61U);
}

INSTANTIATE_TEST_SUITE_P(Conformances, StepGraphTest, testing::Values("standard", "exact"),
                         [](const auto& of) { return std::string(of.param); });

class StepTraceGraphTest : public graphs::GraphTest {
 protected:
    static ge::Operator FindSource(const std::vector<ge::Operator>& sources, const char* name) {
        for (const ge::Operator& source : sources) {
            ge::AscendString text;
            if (source.GetName(text) == ge::GRAPH_SUCCESS && text == name) {
                return source;
            }
        }
        return {};
    }
};

// One value in two inputs that are only read, and in two that are updated: as two values.
TEST_F(StepTraceGraphTest, OneDataFeedsTwoInputs) {
    const support::StepGoldenCase golden =
        support::LoadStepGolden(ADVANCE_STEP_TEST_DATA "/step_standard.jsonl").front();
    ASSERT_EQ(golden.outcome, StepOutcome::kOk);
    std::vector<ge::Tensor> inputs = TensorsOf(golden.in);
    inputs[reference::kNextTokens] = inputs[reference::kStepIdx];
    inputs[reference::kNeedBlockLen] = inputs[reference::kRecoverLens];
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, MakeStepGraph(golden.in.dims.blockSize))));
    std::vector<ge::Tensor> expected;
    ASSERT_TRUE(Succeeded(Session().RunGraph(1, inputs, expected)));

    auto step = ge::op::Step("step")
                    .set_attr_block_size(golden.in.dims.blockSize)
                    .set_attr_encoder_decoder_block_num(1);
    std::vector<ge::Operator> sources;
    std::vector<ge::Tensor> fewer;
    for (size_t i = 0; i < support::kStepTensors; ++i) {
        const std::string name = support::SnakeCase(support::kStepTensorNames[i]);
        if (i == reference::kNextTokens) {
            step.SetInput(name.c_str(), FindSource(sources, "step_idx"));
        } else if (i == reference::kNeedBlockLen) {
            step.SetInput(name.c_str(), FindSource(sources, "recover_lens"));
        } else {
            sources.push_back(ge::op::Data(name));
            step.SetInput(name.c_str(), sources.back());
            fewer.push_back(inputs[i]);
        }
    }
    ge::Graph graph("shared");
    graph.SetInputs(sources).SetOutputs(std::vector<ge::Operator>{step});
    ASSERT_TRUE(Succeeded(Session().AddGraph(2, graph)));
    std::vector<ge::Tensor> outputs;
    ASSERT_TRUE(Succeeded(Session().RunGraph(2, fewer, outputs)));
    EXPECT_EQ(ValuesOf(outputs), ValuesOf(expected));
}

// Each trace is one graph that runs many times, the outputs of a run in the next one's inputs.
TEST_F(StepTraceGraphTest, TracesLeaveTheirDigests) {
    ASSERT_NO_FATAL_FAILURE(RestartWithSession({{"ADVANCE_STEP_CONFORMANCE", "exact"}}));
    uint32_t graphId = 0;
    int steps = 0;
    reference::StepData state;
    for (const nlohmann::json& line :
         support::ReadLines(ADVANCE_STEP_TEST_DATA "/step_traces.jsonl")) {
        if (line.contains("kind")) {
            state = {};
            state.dims = support::ReadDims(line);
            support::ReadTensors(line.at("state"), state);
            ASSERT_TRUE(
                Succeeded(Session().AddGraph(++graphId, MakeStepGraph(state.dims.blockSize))));
            continue;
        }
        for (const std::vector<int64_t> write : line.at("w")) {
            std::copy(write.begin() + 2, write.end(),
                      state.tensors.at(write[0]).begin() + write[1]);
        }
        std::vector<ge::Tensor> outputs;
        ASSERT_TRUE(Succeeded(Session().RunGraph(graphId, TensorsOf(state), outputs)));
        state = StateAfter(state, outputs);
        char digest[17];
        std::snprintf(digest, sizeof(digest), "%016llx",
                      static_cast<unsigned long long>(reference::StepDigest(state)));
        ASSERT_EQ(line.at("digest"), digest) << "step " << steps;
        ++steps;
    }
    EXPECT_GE(steps, 390);
}

}  // namespace
