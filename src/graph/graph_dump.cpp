// SPDX-License-Identifier: Apache-2.0
// Dumps a graph as text.

#include <cstring>

#include "ge/ge_ir_build.h"
#include "src/graph/element_size.h"
#include "src/graph/graph_state.h"
#include "src/graph/messages.h"
#include "src/graph/replace_file.h"

namespace advstep::graph {
namespace {

struct AttrText {
    std::string operator()(const std::string& text) const { return fmt::format("\"{}\"", text); }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(ge::DataType value) const {
        return fmt::format("data type {}", static_cast<int>(value));
    }
    std::string operator()(const ge::Tensor& tensor) const {
        return fmt::format("tensor {} of {} bytes",
                           ShapeText(tensor.GetTensorDesc().GetShape().GetDims()),
                           tensor.GetSize());
    }
    template <class T>
    std::string operator()(const std::vector<T>& values) const {
        std::string text;
        for (const T& value : values) {
            text += (text.empty() ? "" : ", ") + (*this)(value);
        }
        return "[" + text + "]";
    }
    template <class T>
    std::string operator()(const T& number) const {
        return fmt::format("{}", number);
    }
};

std::string TextOf(const GraphModel& model) {
    std::string text = fmt::format("graph \"{}\"\n", model.name);
    const auto nameOf = [&](const ValueId& value) {
        const ModelNode& node = model.nodes[value.node];
        return fmt::format("\"{}\".{}", node.name, node.outputs[value.output]);
    };
    for (const ModelNode& node : model.nodes) {
        text += fmt::format("operator \"{}\" of type {}\n", node.name, node.type);
        for (const auto& [name, value] : node.attrs) {
            text += fmt::format("  attribute {} = {}\n", name, std::visit(AttrText(), value));
        }
        for (const ModelInput& input : node.inputs) {
            text += fmt::format("  input {} {}\n", input.name,
                                input.source ? "from " + nameOf(*input.source) : "not linked");
        }
        for (const size_t source : node.controlSources) {
            text += fmt::format("  after \"{}\"\n", model.nodes[source].name);
        }
        for (const std::string& output : node.outputs) {
            text += fmt::format("  output {}\n", output);
        }
    }
    for (const ValueId& output : model.outputs) {
        text += fmt::format("graph output {}\n", nameOf(output));
    }
    return text;
}

Outcome Dump(const ge::Graph& graph, const char* file, size_t len) {
    if (file == nullptr || *file == '\0') {
        return Fail(kInnerError, "file is null or empty; expected a path");
    }
    if (std::strlen(file) != len) {
        return Fail(kInnerError, "len is {}; expected the {} bytes of file", len,
                    std::strlen(file));
    }
    const std::string path = std::string(file) + ".txt";
    ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckFile(path.c_str()));
    std::shared_ptr<const GraphModel> model;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(GraphAccess::StateOf(graph).MakeModel(&model));
    return ReplaceFile(path, TextOf(*model));
}

}  // namespace
}  // namespace advstep::graph

namespace ge {

graphStatus aclgrphDumpGraph(const Graph& graph, const char* file, const size_t len) {
    const Status status = advstep::graph::Boundary(
        "aclgrphDumpGraph", [&] { return advstep::graph::Dump(graph, file, len); });
    return status == SUCCESS ? GRAPH_SUCCESS : GRAPH_PARAM_INVALID;
}

}  // namespace ge
