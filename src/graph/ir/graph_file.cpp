// SPDX-License-Identifier: Apache-2.0
// Saves graphs to files, loads them from files, and dumps them as text.

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
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

namespace advstep::graph {
namespace {

constexpr size_t kMostOfName = 200;  // bytes of a file name that the neighbour's has too

bool WriteAll(int file, const std::string& bytes) {
    for (size_t written = 0; written < bytes.size();) {
        const ssize_t count = write(file, bytes.data() + written, bytes.size() - written);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        written += count < 0 ? 0 : static_cast<size_t>(count);
    }
    return true;
}

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

// Writes a neighbour of the file and renames it, so that a failure leaves the file as it was.
Outcome ReplaceFile(const std::string& path, const std::string& bytes) {
    static std::atomic<uint64_t> count{0};
    // The file name is cut, since the longest leaves no room for more.
    const std::string begin = path.substr(0, path.rfind('/') + 1 + kMostOfName);
    std::string neighbour;
    int file = -1;
    do {  // a process of the same number, now or before, may have some of the names
        neighbour = fmt::format("{}.{}.{}.part", begin, getpid(), count.fetch_add(1));
        file = open(neighbour.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (file < 0 && errno == EEXIST);
    if (file < 0) {
        return Fail(kInnerError, "{} cannot be written: {}", path,
                    std::generic_category().message(errno));
    }
    int error = WriteAll(file, bytes) ? 0 : errno;
    if (close(file) != 0 && error == 0) {
        error = errno;
    }
    if (error == 0 && std::rename(neighbour.c_str(), path.c_str()) != 0) {
        error = errno;
    }
    if (error != 0) {
        unlink(neighbour.c_str());
        return Fail(kInnerError, "{} cannot be written: {}", path,
                    std::generic_category().message(error));
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
