// SPDX-License-Identifier: Apache-2.0
// The older habit: short names, codes as macros behind the includes, everything in using.
#include <iostream>
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
#include "../op_graph/step_proto.h"

#define FAILED -1
#define SUCCESS 0

using namespace ge;
using namespace std;

namespace ge {
REG_OP(BehindTheMacros)
    .INPUT(x, TensorType({DT_INT64, DT_INT32}))
    .OUTPUT(y, BasicType())
    .ATTR(axes, ListInt, {})
    .OP_END_FACTORY_REG(BehindTheMacros)
}  // namespace ge

int main() {
    map<AscendString, AscendString> options = {{AscendString(OPTION_EXEC_DEVICE_ID), "0"}};
    Status initialised = GEInitialize(options);
    uint32_t code = initialised;
    if (code != SUCCESS) {
        cout << GEGetErrorMsgV2().GetString() << GEGetWarningMsgV2().GetString();
        return FAILED;
    }
    auto data = op::Data("data").set_attr_index(0);
    auto more = op::BehindTheMacros("behind").set_input_x(data).set_attr_axes({1, 2});
    vector<Operator> inputs{data};
    vector<Operator> outputs{more};
    Graph graph("old");
    graph.SetInputs(inputs).SetOutputs(outputs);
    Session* session = new Session(options);
    vector<Tensor> in;
    vector<Tensor> out;
    graphStatus dumped = aclgrphDumpGraph(graph, "old", string("old").length());
    Status ran = session->AddGraph(0, graph, options);
    ran = session->RunGraph(0, in, out);
    for (const Tensor& tensor : out) {
        cout << tensor.GetTensorDesc().GetDataType() << tensor.GetTensorDesc().GetFormat();
    }
    delete session;
    return GEFinalize() == SUCCESS && ran == SUCCESS && dumped == GRAPH_SUCCESS ? 0 : 1;
}
