// SPDX-License-Identifier: Apache-2.0
// Graph::SaveToFile and Graph::LoadFromFile.

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "src/graph/graph_bytes.h"
#include "src/graph/graph_state.h"
#include "src/graph/messages.h"
#include "src/graph/replace_file.h"

namespace advstep::graph {
namespace {

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

}  // namespace ge
