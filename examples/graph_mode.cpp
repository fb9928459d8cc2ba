// SPDX-License-Identifier: Apache-2.0
// Graph mode: AdvanceStep and Step as operators of a graph that is built once and run by a session.
// A decode step of a server, twice: the graph's outputs are the next run's inputs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "array_ops.h"
#include "ge/ge_api.h"
#include "op_graph/advance_step_proto.h"
#include "op_graph/step_proto.h"

namespace {

void Check(ge::Status status, const char* call) {
    if (status != ge::SUCCESS) {
        std::fprintf(stderr, "%s returned %u: %s\n", call, status,
                     ge::GEGetErrorMsgV2().GetString());
        std::exit(EXIT_FAILURE);  // NOLINT(concurrency-mt-unsafe): nothing else exits
    }
}
#define CHECK(call) Check((call), #call)

template <typename T>
constexpr ge::DataType kDataType = ge::DT_INT64;
template <>
constexpr ge::DataType kDataType<uint8_t> = ge::DT_BOOL;
template <>
constexpr ge::DataType kDataType<int32_t> = ge::DT_INT32;

template <typename T>
ge::Tensor MakeTensor(const std::vector<int64_t>& shape, const std::vector<T>& values) {
    const ge::TensorDesc desc(ge::Shape(shape), ge::FORMAT_ND, kDataType<T>);
    return ge::Tensor(desc, reinterpret_cast<const uint8_t*>(values.data()),
                      values.size() * sizeof(T));
}

template <typename T>
std::vector<T> ValuesOf(const ge::Tensor& tensor) {
    std::vector<T> values(tensor.GetSize() / sizeof(T));
    std::memcpy(values.data(), tensor.GetData(), tensor.GetSize());
    return values;
}

template <typename T>
void Print(const char* name, const ge::Tensor& tensor) {
    std::printf("  %-16s", name);
    for (const T value : ValuesOf<T>(tensor)) {
        std::printf(" %4lld", static_cast<long long>(value));
    }
    std::puts("");
}

// A Data operator; the index says which tensor of RunGraph feeds it.
ge::op::Data MakeData(const char* name, int64_t index) {
    return ge::op::Data(name).set_attr_index(index);
}

// Four rows, three of which move one token forward, as in advance_step.c.
void AdvanceTwice(ge::Session& session) {
    auto inputTokens = MakeData("input_tokens", 0);
    auto sampledTokenIds = MakeData("sampled_token_ids", 1);
    auto inputPositions = MakeData("input_positions", 2);
    auto seqLens = MakeData("seq_lens", 3);
    auto slotMapping = MakeData("slot_mapping", 4);
    auto blockTables = MakeData("block_tables", 5);
    auto advance = ge::op::AdvanceStep("advance")
                       .set_input_input_tokens(inputTokens)
                       .set_input_sampled_token_ids(sampledTokenIds)
                       .set_input_input_positions(inputPositions)
                       .set_input_seq_lens(seqLens)
                       .set_input_slot_mapping(slotMapping)
                       .set_input_block_tables(blockTables)
                       .set_attr_num_seqs(4)
                       .set_attr_num_queries(3)
                       .set_attr_block_size(4);
    ge::Graph graph("decode");
    graph
        .SetInputs(
            {inputTokens, sampledTokenIds, inputPositions, seqLens, slotMapping, blockTables})
        .SetOutputs(std::vector<ge::Operator>{advance});
    CHECK(session.AddGraph(1, graph));

    std::vector<ge::Tensor> inputs = {
        MakeTensor<int64_t>({4}, {0, 0, 0, 0}),
        MakeTensor<int64_t>({3, 1}, {501, 502, 503}),
        MakeTensor<int64_t>({4}, {4, 7, 11, 0}),
        MakeTensor<int64_t>({4}, {5, 8, 12, 0}),
        MakeTensor<int64_t>({4}, {0, 0, 0, 0}),
        MakeTensor<int64_t>({4, 4}, {2, 7, -1, -1,  //
                                     0, 5, 6, -1,   //
                                     9, 1, 3, 8,    //
                                     0, 0, 0, 0}),
    };
    for (int step = 0; step < 2; ++step) {
        std::vector<ge::Tensor> outputs;
        CHECK(session.RunGraph(1, inputs, outputs));
        std::printf("AdvanceStep, step %d\n", step);
        Print<int64_t>("input_tokens", outputs[0]);
        Print<int64_t>("input_positions", outputs[1]);
        Print<int64_t>("seq_lens", outputs[2]);
        Print<int64_t>("slot_mapping", outputs[3]);
        inputs[0] = outputs[0];
        inputs[2] = outputs[1];
        inputs[3] = outputs[2];
        inputs[4] = outputs[3];
        inputs[1] = MakeTensor<int64_t>({3, 1}, {511, 512, 513});  // what the model sampled
    }
}

// One of the 22 tensors of Step; hasOutput says whether a run updates it.
struct State {
    const char* name;
    ge::Tensor tensor;
    bool hasOutput = true;
};

// Three prompts of 4 tokens in blocks of 4, as in step.cpp: all need a block, and one is free.
std::vector<State> ThreeSlots() {
    return {
        {"stop_flags", MakeTensor<uint8_t>({3}, {0, 0, 0})},
        {"seq_lens_this_time", MakeTensor<int32_t>({3}, {1, 1, 1})},
        {"ori_seq_lens_encoder", MakeTensor<int32_t>({3}, {4, 4, 4}), false},
        {"seq_lens_encoder", MakeTensor<int32_t>({3}, {0, 0, 0})},
        {"seq_lens_decoder", MakeTensor<int32_t>({3}, {12, 8, 4})},
        {"block_tables",
         MakeTensor<int32_t>({3, 4}, {0, 10, 11, -1, 1, 12, -1, -1, 2, -1, -1, -1})},
        {"encoder_block_lens", MakeTensor<int32_t>({3}, {1, 1, 1})},
        {"is_block_step", MakeTensor<uint8_t>({3}, {0, 0, 0})},
        {"step_block_list", MakeTensor<int32_t>({3}, {-1, -1, -1})},
        {"step_lens", MakeTensor<int32_t>({1}, {0})},
        {"recover_block_list", MakeTensor<int32_t>({3}, {-1, -1, -1})},
        {"recover_lens", MakeTensor<int32_t>({1}, {0})},
        {"need_block_list", MakeTensor<int32_t>({3}, {-1, -1, -1})},
        {"need_block_len", MakeTensor<int32_t>({1}, {0})},
        {"used_list_len", MakeTensor<int32_t>({3}, {2, 1, 0})},
        {"free_list", MakeTensor<int32_t>({4}, {13, -1, -1, -1})},
        {"free_list_len", MakeTensor<int32_t>({1}, {1})},
        {"input_ids", MakeTensor<int64_t>({3, 16}, std::vector<int64_t>(48, 7))},
        {"pre_ids", MakeTensor<int64_t>({3, 16}, std::vector<int64_t>(48, 8)), false},
        {"step_idx", MakeTensor<int64_t>({3}, {9, 5, 1}), false},
        {"next_tokens", MakeTensor<int64_t>({3}, {112, 208, 304}), false},
        {"first_token_ids", MakeTensor<int64_t>({3}, {100, 200, 300})},
    };
}

// Gives the outputs of a run back to the state, in the order of both.
void Update(std::vector<State>& state, const std::vector<ge::Tensor>& outputs) {
    size_t next = 0;
    for (State& part : state) {
        if (part.hasOutput) {
            part.tensor = outputs.at(next++);
        }
    }
}

void PrintSlots(const char* title, const std::vector<State>& state) {
    std::printf("%s\n", title);
    for (const char* name : {"seq_lens_decoder", "block_tables", "free_list"}) {
        for (const State& part : state) {
            if (std::strcmp(part.name, name) == 0) {
                Print<int32_t>(name, part.tensor);
            }
        }
    }
}

void PreemptAndRecover(ge::Session& session) {
    std::vector<State> state = ThreeSlots();
    auto step = ge::op::Step("step").set_attr_block_size(4).set_attr_encoder_decoder_block_num(1);
    std::vector<ge::Operator> sources;
    for (size_t index = 0; index < state.size(); ++index) {
        sources.push_back(MakeData(state[index].name, static_cast<int64_t>(index)));
        step.SetInput(state[index].name, sources.back());
    }
    ge::Graph graph("housekeeping");
    graph.SetInputs(sources).SetOutputs(std::vector<ge::Operator>{step});
    CHECK(session.AddGraph(2, graph));

    const auto run = [&] {
        std::vector<ge::Tensor> inputs;
        for (const State& part : state) {
            inputs.push_back(part.tensor);
        }
        std::vector<ge::Tensor> outputs;
        CHECK(session.RunGraph(2, inputs, outputs));
        Update(state, outputs);
    };
    run();
    PrintSlots("Step: slot 0 had the most blocks and was preempted; the others got one each",
               state);
    // Slot 1 finishes.
    state[0].tensor = MakeTensor<uint8_t>({3}, {1, 1, 0});
    state[1].tensor = MakeTensor<int32_t>({3}, {0, 0, 1});
    state[4].tensor = MakeTensor<int32_t>({3}, {0, 9, 5});
    state[19].tensor = MakeTensor<int64_t>({3}, {9, 6, 2});
    run();
    PrintSlots("Step: slot 1 gave its blocks back, and slot 0 was recovered", state);
}

}  // namespace

int main() {
    CHECK(ge::GEInitialize({{ge::OPTION_EXEC_DEVICE_ID, "0"}, {ge::OPTION_GRAPH_RUN_MODE, "1"}}));
    {
        ge::Session session({});
        AdvanceTwice(session);
        PreemptAndRecover(session);
    }
    CHECK(ge::GEFinalize());
    return EXIT_SUCCESS;
}
