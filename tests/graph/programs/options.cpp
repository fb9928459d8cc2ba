// SPDX-License-Identifier: Apache-2.0
// Every way to give options, and every overload of outputs.
#include "array_ops.h"
#include "ge_api.h"

int main() {
    using Options = std::map<ge::AscendString, ge::AscendString>;
    const Options options = {{ge::OPTION_GRAPH_RUN_MODE, "1"}, {"ge.exec.deviceId", "0"}};
    ge::GEInitialize({});
    ge::GEInitialize(options);
    ge::GEInitialize({{"ge.exec.deviceId", "0"}});
    ge::GEInitialize({{"ge.exec.deviceId", "0"}, {"ge.graphRunMode", "1"}});
    ge::GEInitialize(Options());
    ge::Session one({});
    ge::Session two(options);
    ge::Session three(Options{});
    ge::Session four({{"ge.exec.deviceId", "0"}, {"ge.graphRunMode", "1"}});
    auto data = ge::op::Data("data");
    ge::Graph graph("options");
    graph.SetInputs({data}).SetOutputs({data});
    one.AddGraph(1, graph);
    one.AddGraph(1, graph, {});
    one.AddGraph(1, graph, options);
    one.AddGraph(1, graph, {{"ge.exec.deviceId", "0"}});
    one.AddGraphWithCopy(2, graph);
    one.AddGraphWithCopy(3, graph, {});
    one.AddGraphWithCopy(4, graph, options);
    std::vector<ge::Tensor> outputs;
    one.RunGraph(1, {}, outputs);
    one.BuildGraph(1, {});
    one.RemoveGraph(1);
    return one.IsGraphNeedRebuild(1) && one.GetSessionId() != two.GetSessionId() ? 0 : 1;
}
