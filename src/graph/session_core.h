// SPDX-License-Identifier: Apache-2.0
// A session: graphs, and one worker thread that runs them.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "ge/ge_api_types.h"
#include "graph/graph.h"
#include "src/graph/graph_model.h"
#include "src/graph/outcome.h"

namespace advstep::graph {

/// A session. Its graphs run in a thread of its own, the worker, so that the context, the messages
/// and the last error of the program's threads do not change. The first run starts the worker.
class SessionCore : public std::enable_shared_from_this<SessionCore> {
 public:
    /// If isAlive is false every call fails.
    SessionCore(uint64_t id, bool isAlive, std::optional<int32_t> deviceId);

    uint64_t id() const { return id_; }

    Outcome AddGraph(uint32_t graphId, const ge::Graph& graph, bool isCopy);
    Outcome RemoveGraph(uint32_t graphId);
    Outcome BuildGraph(uint32_t graphId, const std::vector<ge::Tensor>& inputs);
    Outcome RunGraph(uint32_t graphId, const std::vector<ge::Tensor>& inputs,
                     std::vector<ge::Tensor>* outputs);
    Outcome RunGraphAsync(uint32_t graphId, const std::vector<ge::Tensor>& inputs,
                          ge::RunAsyncCallback callback);
    bool HasGraph(uint32_t graphId) const;

    /// Refuses all later calls, and waits for the queued runs. A call from the callback of a run
    /// does not wait. Callbacks may end each other's sessions.
    void End(bool isDestruction);

 private:
    using Model = std::shared_ptr<const GraphModel>;

    Outcome FindLocked(uint32_t graphId, ge::Status unknown, Model* model) const;
    void QueueLocked(std::function<void()> job);
    void Work();

    const uint64_t id_;
    const std::optional<int32_t> deviceId_;

    // Guards the members below. It is never held while a graph runs or a callback is called.
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool isAlive_;
    bool isRunning_ = false;  // a RunGraph is in progress
    bool hasWorker_ = false;  // false again when the worker has ended its last job
    std::map<uint32_t, Model> graphs_;
    std::deque<std::function<void()>> jobs_;
    std::thread worker_;
};

}  // namespace advstep::graph
