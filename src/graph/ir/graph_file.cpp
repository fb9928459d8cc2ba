// SPDX-License-Identifier: Apache-2.0
// Saves graphs to files, loads them from files, and dumps them as text.

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "ge/ge_ir_build.h"
#include "src/graph/ir/graph.h"
#include "src/graph/ir/graph_bytes.h"
#include "src/graph/ir/messages.h"
#include "src/graph/ir/tensor.h"
#include "src/graph/ir/whole_file.h"

namespace advstep::graph {
namespace {

// Refuses null, the empty path, and what exists and is no regular file.
Outcome CheckFile(const char* file) {
    if (file == nullptr || *file == '\0') {
        return Fail(kInnerError, "file is null or empty; expected a path");
    }
    std::error_code error;
    const auto status = std::filesystem::status(file, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        return Fail(kInnerError, "{} is no regular file", file);
    }
    return {};
}

Outcome Save(const GraphState& graph, const char* file) {
    ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckFile(file));
    std::shared_ptr<const GraphModel> model;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(graph.MakeModel(&model));
    for (const ModelNode& node : model->nodes) {
        if (!node.faults.empty()) {
            return Fail(kInnerError, "graph {}: {}", model->name, node.faults.front());
        }
    }
    std::string bytes;
    if (const Outcome written = WriteModel(*model, &bytes); !written.ok()) {
        return {written.status(), written.kind(),
                fmt::format("graph {}: {}", model->name, written.text())};
    }
    return ReplaceFile(file, bytes);
}

Outcome Load(GraphState& graph, const char* file) {
    ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckFile(file));
    errno = 0;
    std::ifstream stream(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    if (!stream.is_open() || stream.bad()) {
        return Fail(kInnerError, "{} cannot be read: {}", file,
                    std::generic_category().message(errno));
    }
    GraphModel model;
    if (const Outcome read = ReadModel(bytes, &model); !read.ok()) {
        return Fail(kInnerError, "{} {}", file, read.text());
    }
    return graph.Restore(model);
}

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

using advstep::graph::Boundary;

graphStatus Graph::SaveToFile(const char* file) const {
    return Boundary("Graph::SaveToFile", [&] { return advstep::graph::Save(*state_, file); });
}

graphStatus Graph::LoadFromFile(const char* file) {
    return Boundary("Graph::LoadFromFile", [&] { return advstep::graph::Load(*state_, file); });
}

graphStatus aclgrphDumpGraph(const Graph& graph, const char* file, const size_t len) {
    const Status status = advstep::graph::Boundary(
        "aclgrphDumpGraph", [&] { return advstep::graph::Dump(graph, file, len); });
    return status == SUCCESS ? GRAPH_SUCCESS : GRAPH_PARAM_INVALID;
}

}  // namespace ge
