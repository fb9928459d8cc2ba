// SPDX-License-Identifier: Apache-2.0
// Graph::SaveToFile and Graph::LoadFromFile.

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "src/graph/graph_bytes.h"
#include "src/graph/graph_state.h"
#include "src/graph/messages.h"

namespace advstep::graph {
namespace {

Outcome CheckPath(const char* file) {
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

// Writes a neighbour of the file and renames it, so that a failure leaves the file as it was.
Outcome Replace(const std::string& path, const std::string& bytes) {
    static std::atomic<uint64_t> count{0};
    const std::string part = fmt::format("{}.{}.{}.part", path, getpid(), count.fetch_add(1));
    const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) {
        return Fail(kInnerError, "{} cannot be written: {}", path,
                    std::generic_category().message(errno));
    }
    int error = WriteAll(file, bytes) ? 0 : errno;
    if (close(file) != 0 && error == 0) {
        error = errno;
    }
    if (error == 0 && std::rename(part.c_str(), path.c_str()) != 0) {
        error = errno;
    }
    if (error != 0) {
        unlink(part.c_str());
        return Fail(kInnerError, "{} cannot be written: {}", path,
                    std::generic_category().message(error));
    }
    return {};
}

Outcome Save(const GraphState& graph, const char* file) {
    ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckPath(file));
    std::shared_ptr<const GraphModel> model;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(graph.MakeModel(&model));
    for (const ModelNode& node : model->nodes) {
        if (!node.faults.empty()) {
            return Fail(kInnerError, "graph {}: {}", model->name, node.faults.front());
        }
    }
    return Replace(file, BytesOf(*model));
}

Outcome Load(GraphState& graph, const char* file) {
    ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckPath(file));
    std::ifstream stream(file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    if (!stream.is_open() || stream.bad()) {
        return Fail(kInnerError, "{} cannot be read", file);
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
