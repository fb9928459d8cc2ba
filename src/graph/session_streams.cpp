// SPDX-License-Identifier: Apache-2.0
// The calls of a session about streams, compiled graphs and variables.

#include <utility>

#include "src/graph/device.h"
#include "src/graph/session_core.h"

namespace advstep::graph {

Outcome SessionCore::RunOnStream(uint32_t graphId, void* stream,
                                 const std::vector<ge::Tensor>& inputs,
                                 std::vector<ge::Tensor>* outputs) {
    EntryPointer entry;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_GRAPH_RETURN_IF_ERROR(FindLocked(graphId, kUnknownGraph, &entry));
    }
    return entry->streamRuns.Run(*entry->model, stream, inputs, &variables_, outputs);
}

Outcome SessionCore::GetVariables(const std::vector<std::string>& names,
                                  std::vector<ge::Tensor>* tensors) {
    std::vector<Model> models;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!isAlive_) {
            return Fail(kBadSession, "session {} has ended, or was made without GEInitialize", id_);
        }
        for (const auto& [number, entry] : graphs_) {
            models.push_back(entry->model);
        }
    }
    std::vector<ge::Tensor> made;
    for (const std::string& name : names) {
        ge::Tensor tensor;
        ADVSTEP_GRAPH_RETURN_IF_ERROR(variables_.Read(name, models, &tensor));
        made.push_back(tensor);
    }
    tensors->swap(made);
    return {};
}

Outcome SessionCore::CompileGraph(uint32_t graphId) {
    EntryPointer entry;  // destroyed without the lock
    std::unique_lock<std::mutex> lock(mutex_);
    ADVSTEP_GRAPH_RETURN_IF_ERROR(FindLocked(graphId, kUnknownGraph, &entry));
    Summary summary;
    const auto compile = [&]() -> Outcome {
        ADVSTEP_GRAPH_RETURN_IF_ERROR(Compile(*entry->model, deviceId_, &summary));
        return variables_.Check(*entry->model);
    };
    ADVSTEP_GRAPH_RETURN_IF_ERROR(InWorker(lock, compile));
    lock.lock();
    entry->summary = std::move(summary);
    lock.unlock();
    return {};
}

Outcome SessionCore::FindSummary(uint32_t graphId, Summary* summary) const {
    EntryPointer entry;
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_GRAPH_RETURN_IF_ERROR(FindLocked(graphId, kUnknownGraph, &entry));
    *summary = entry->summary;
    return {};
}

Outcome SessionCore::LoadGraph(uint32_t graphId, void* stream) {
    EntryPointer entry;
    std::unique_lock<std::mutex> lock(mutex_);
    ADVSTEP_GRAPH_RETURN_IF_ERROR(FindLocked(graphId, kUnknownGraph, &entry));
    lock.unlock();
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;  // asks for the stream
    ADVSTEP_GRAPH_RETURN_IF_ERROR(FindCapture(stream, &status));
    lock.lock();
    if (entry->summary == nullptr) {
        return Fail(kInnerError, "graph {} is not compiled; expected CompileGraph before", graphId);
    }
    if (entry->isLoaded) {
        return Fail(kInnerError, "graph {} is loaded already; expected one LoadGraph", graphId);
    }
    entry->isLoaded = true;
    return {};
}

}  // namespace advstep::graph
