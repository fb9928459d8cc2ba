// SPDX-License-Identifier: Apache-2.0
// Options and messages of std::string beside those of AscendString, and headers that only exist.
#include <iostream>
#include <map>
#include <string>

#include "all_ops.h"
#include "ge_api.h"
#include "gnode.h"
#include "nn_norm.h"
#include "register/op_impl_registry.h"

namespace {
uint32_t InferShape(void* context) { return context == nullptr ? 1 : 0; }
struct CompileInfo {};
IMPL_OP(Anything).InferShape(InferShape).InputsDataDependency({1, 2}).PrivateAttr("a", int64_t{1});
IMPL_OP_OPTILING(Anything).Tiling(InferShape).TilingParse<CompileInfo>(InferShape);
}  // namespace

int main() {
    std::map<std::string, std::string> options = {
        {ge::OPTION_EXEC_DEVICE_ID, "0"},
        {ge::ir_option::SOC_VERSION, "Ascend910B3"},
        {ge::ir_option::PRECISION_MODE, "allow_fp32_to_fp16"}};
    const std::map<ge::AscendString, ge::AscendString> others = {{"ge.graphRunMode", "0"}};
    ge::GEInitialize(options);
    ge::GEInitialize(others);
    ge::GEInitialize({});
    ge::Session session(options);
    ge::Session braced({{"ge.exec.deviceId", "0"}});
    ge::Session* made =
        new ge::Session(std::map<std::string, std::string>{{"ge.graphRunMode", "0"}});
    delete made;
    ge::Graph graph("strings");
    auto data = ge::op::Data("data");
    graph.SetInputs({data}).SetTargets({data});
    session.AddGraph(1, graph, options);
    session.AddGraph(2, graph, {});
    for (const ge::GNode& node : graph.GetAllNodes()) {
        ge::AscendString name;
        int64_t index = 0;
        node.GetName(name);
        node.GetAttr("index", index);
    }
    std::string error = ge::GEGetErrorMsg();
    std::cout << error << ge::GEGetWarningMsg() << ge::GetSizeByDataType(ge::DT_INT64);
    return ge::GEFinalize() == ge::SUCCESS ? 0 : 1;
}
