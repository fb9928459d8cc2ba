// SPDX-License-Identifier: Apache-2.0
// State of a session, compiled graphs, and runs on a stream of the program.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "all_ops.h"
#include "ge_api.h"
#include "ge_graph_compile_summary.h"

using namespace ge;

int main() {
    GEInitialize({});
    Session session(std::map<std::string, std::string>{});
    auto lengths = op::Variable("lengths").set_attr_value(Tensor());
    auto slots = op::RefData("slots").set_attr_index(0);
    lengths.update_output_desc_y(TensorDesc(Shape({4}), FORMAT_ND, DT_INT64));
    Graph graph("streams");
    graph.SetInputs({lengths, slots}).SetOutputs(std::vector<Operator>{lengths});
    Status status = session.AddGraph(1, graph);
    status = session.CompileGraph(1);
    std::shared_ptr<CompiledGraphSummary> summary = session.GetCompiledGraphSummary(1);
    size_t bytes = 0;
    std::vector<Shape> shapes;
    std::vector<DataType> types;
    std::vector<std::pair<uint32_t, uint32_t>> pairs;
    if (summary != nullptr && summary->IsStatic()) {
        summary->GetConstMemorySize(bytes);
        summary->GetFeatureMemorySize(bytes);
        summary->GetOutputShapes(shapes);
        summary->GetOutputDtypes(types);
        summary->GetIOIndexesWithSameAddr(pairs);
    }
    aclrtStream stream = nullptr;
    status = session.LoadGraph(1, {}, stream);
    std::vector<Tensor> inputs(1);
    std::vector<Tensor> outputs(1);
    status = session.RunGraphWithStreamAsync(1, stream, inputs, outputs);
    std::vector<Tensor> state;
    session.GetVariables({"lengths"}, state);
    session.GetVariables(std::vector<std::string>{"lengths"}, state);
    session.GetVariables(std::vector<AscendString>{"lengths"}, state);
    return status == SUCCESS ? static_cast<int>(state.size()) : 0;
}
