// SPDX-License-Identifier: Apache-2.0
// AdvanceStep in graph mode, in the style of CANN's own samples: short include names, macros that
// number their inputs, and codes that the program defines itself. Exit status 1 if a value is
// wrong.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "array_ops.h"
#include "ge_api.h"
#include "ge_api_types.h"
#include "ge_error_codes.h"
#include "ge_ir_build.h"
#include "graph.h"
#include "tensor.h"
#include "types.h"

#include "../op_graph/advance_step_proto.h"

#define FAILED -1
#define SUCCESS 0

using namespace ge;
using std::map;
using std::vector;

// Makes the operator placeholderN, its tensor, and links it with input NAME of node.
#define ADD_INPUT(N, NAME, DTYPE, SHAPE, VALUES)                           \
    auto placeholder##N = op::Data("placeholder" + (N)).set_attr_index(N); \
    TensorDesc desc##N = TensorDesc(Shape(SHAPE), FORMAT_ND, DTYPE);       \
    desc##N.SetPlacement(kPlacementHost);                                  \
    placeholder##N.update_input_desc_x(desc##N);                           \
    placeholder##N.update_output_desc_y(desc##N);                          \
    tensors.push_back(MakeTensor(desc##N, VALUES));                        \
    if (graph.AddOp(placeholder##N) != GRAPH_SUCCESS) {                    \
        return FAILED;                                                     \
    }                                                                      \
    node.set_input_##NAME(placeholder##N);                                 \
    inputs.push_back(placeholder##N)

#define ADD_OUTPUT(NAME, DTYPE, SHAPE) \
    node.update_output_desc_##NAME(TensorDesc(Shape(SHAPE), FORMAT_ND, DTYPE))

static Tensor MakeTensor(const TensorDesc& desc, const vector<int64_t>& values) {
    const size_t bytes = values.size() * sizeof(int64_t);
    uint8_t* data = new uint8_t[bytes];
    std::memcpy(data, values.data(), bytes);
    Tensor tensor(desc, data, bytes);
    delete[] data;
    return tensor;
}

static int BuildGraph(Graph& graph, vector<Tensor>& tensors) {
    const vector<int64_t> rows = {4};
    const vector<int64_t> queries = {3, 1};
    const vector<int64_t> tables = {4, 4};
    vector<Operator> inputs;
    auto node = op::AdvanceStep("advance_step");
    ADD_INPUT(0, input_tokens, DT_INT64, rows, (vector<int64_t>{0, 0, 0, 0}));
    ADD_INPUT(1, sampled_token_ids, DT_INT64, queries, (vector<int64_t>{501, 502, 503}));
    ADD_INPUT(2, input_positions, DT_INT64, rows, (vector<int64_t>{4, 7, 11, 0}));
    ADD_INPUT(3, seq_lens, DT_INT64, rows, (vector<int64_t>{5, 8, 12, 0}));
    ADD_INPUT(4, slot_mapping, DT_INT64, rows, (vector<int64_t>{0, 0, 0, 0}));
    ADD_INPUT(5, block_tables, DT_INT64, tables,
              (vector<int64_t>{2, 7, -1, -1, 0, 5, 6, -1, 9, 1, 3, 8, 0, 0, 0, 0}));
    node.set_attr_num_seqs(4);
    node.set_attr_num_queries(3);
    node.set_attr_block_size(4);
    ADD_OUTPUT(input_tokens, DT_INT64, rows);
    ADD_OUTPUT(input_positions, DT_INT64, rows);
    ADD_OUTPUT(seq_lens, DT_INT64, rows);
    ADD_OUTPUT(slot_mapping, DT_INT64, rows);
    vector<Operator> outputs;
    outputs.push_back(node);
    graph.SetInputs(inputs).SetOutputs(outputs);
    return SUCCESS;
}

static int Compare(const vector<Tensor>& outputs) {
    const vector<vector<int64_t>> expected = {
        {501, 502, 503, 0}, {5, 8, 12, 0}, {6, 9, 13, 0}, {29, 24, 32, -1}};
    if (outputs.size() != expected.size()) {
        return FAILED;
    }
    for (size_t output = 0; output < expected.size(); ++output) {
        const Tensor& tensor = outputs[output];
        const size_t count = static_cast<size_t>(tensor.GetTensorDesc().GetShape().GetShapeSize());
        const int64_t* values = reinterpret_cast<const int64_t*>(tensor.GetData());
        printf("output %zu, data type %d:", output, tensor.GetTensorDesc().GetDataType());
        for (size_t index = 0; index < count; ++index) {
            printf(" %lld", static_cast<long long>(values[index]));
        }
        printf("\n");
        if (vector<int64_t>(values, values + count) != expected[output]) {
            return FAILED;
        }
    }
    return SUCCESS;
}

int main(int argc, char* argv[]) {
    map<AscendString, AscendString> globalOptions = {{"ge.exec.deviceId", "0"},
                                                     {"ge.graphRunMode", "1"}};
    if (GEInitialize(globalOptions) != SUCCESS) {
        printf("GEInitialize: %s\n", GEGetErrorMsgV2().GetString());
        return 1;
    }
    Graph graph("advance_step_graph");
    vector<Tensor> inputs;
    vector<Tensor> outputs;
    bool isRight = BuildGraph(graph, inputs) == SUCCESS;
    if (argc > 1) {
        isRight = isRight && aclgrphDumpGraph(graph, argv[1], strlen(argv[1])) == GRAPH_SUCCESS;
    }
    map<AscendString, AscendString> buildOptions = {};
    Session* session = new Session(buildOptions);
    const uint32_t graphId = 0;
    isRight = isRight && session->AddGraph(graphId, graph, buildOptions) == SUCCESS &&
              session->RunGraph(graphId, inputs, outputs) == SUCCESS;
    if (!isRight) {
        printf("%s\n", GEGetErrorMsgV2().GetString());
    }
    isRight = isRight && Compare(outputs) == SUCCESS;
    delete session;
    GEFinalize();
    printf("%s\n", isRight ? "all values are right" : "FAILURE");
    return isRight ? 0 : 1;
}
