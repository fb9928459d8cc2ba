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
#include <utility>
#include <vector>

#include "ge/ge_api_types.h"
#include "graph/graph.h"
#include "src/graph/ir/graph_model.h"
#include "src/graph/ir/outcome.h"
#include "src/graph/run/stream_run.h"
#include "src/graph/run/variable_store.h"
#include "src/graph/session/summary.h"

namespace advstep::graph {

class Engine;

/// A session. Its graphs run in a thread of its own, the worker, so that the context, the messages
/// and the last error of the program's threads do not change. The first run starts the worker.
class SessionCore : public std::enable_shared_from_this<SessionCore> {
 public:
    /// If isAlive is false every call fails.
    SessionCore(const Engine& engine, uint64_t id, bool isAlive, std::optional<int32_t> deviceId);

    /// The engine that made the session. The next functions are those that take no lock.
    const Engine* engine() const { return &engine_; }
    uint64_t id() const { return id_; }
    /// Links the engine's list of abandoned sessions.
    void SetNextAbandoned(std::shared_ptr<SessionCore> next) { nextAbandoned_ = std::move(next); }

    Outcome AddGraph(uint32_t graphId, const ge::Graph& graph, bool isCopy);
    Outcome RemoveGraph(uint32_t graphId);
    Outcome BuildGraph(uint32_t graphId, const std::vector<ge::Tensor>& inputs);
    Outcome RunGraph(uint32_t graphId, const std::vector<ge::Tensor>& inputs,
                     std::vector<ge::Tensor>* outputs);
    Outcome RunGraphAsync(uint32_t graphId, const std::vector<ge::Tensor>& inputs,
                          ge::RunAsyncCallback callback);
    Outcome RunOnStream(uint32_t graphId, void* stream, const std::vector<ge::Tensor>& inputs,
                        std::vector<ge::Tensor>* outputs);
    Outcome GetVariables(const std::vector<std::string>& names, std::vector<ge::Tensor>* tensors);
    Outcome CompileGraph(uint32_t graphId);
    /// Returns null in *summary before CompileGraph.
    Outcome FindSummary(uint32_t graphId, Summary* summary) const;
    Outcome LoadGraph(uint32_t graphId, void* stream);
    bool HasGraph(uint32_t graphId) const;

    /// Refuses all later calls, and waits for the queued runs. A call from the callback of a run
    /// does not wait. Callbacks may end each other's sessions.
    void End(bool isDestruction);

 private:
    using Model = std::shared_ptr<const GraphModel>;

    /// A graph of the session. It lives until the last run of it has ended, or is queued.
    struct Entry {
        Model model;
        StreamRuns streamRuns;  // has a lock of its own
        Summary summary;        // guarded by the session's lock, as the next one
        bool isLoaded = false;
    };
    using EntryPointer = std::shared_ptr<Entry>;

    Outcome FindLocked(uint32_t graphId, ge::Status unknown, EntryPointer* entry) const;
    // Runs the job in the worker, after the queued ones, and waits for it. A caller that is a
    // worker itself runs the job in its own thread. The lock is released at the end.
    Outcome InWorker(std::unique_lock<std::mutex>& lock, const std::function<Outcome()>& job);
    void QueueLocked(std::function<void()> job);
    void Work();

    const Engine& engine_;
    const uint64_t id_;
    const std::optional<int32_t> deviceId_;
    VariableStore variables_;                     // has a lock of its own
    std::shared_ptr<SessionCore> nextAbandoned_;  // guarded by the lock of an engine

    // Guards the members below. It is never held while a graph runs or a callback is called.
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool isAlive_;
    bool isRunning_ = false;  // a RunGraph is in progress
    bool hasWorker_ = false;  // false again when the worker has ended its last job
    std::map<uint32_t, EntryPointer> graphs_;
    std::deque<std::function<void()>> jobs_;
    std::thread worker_;
};

}  // namespace advstep::graph
