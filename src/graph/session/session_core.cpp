// SPDX-License-Identifier: Apache-2.0
// Implements a session: its graphs, its worker thread and its queue of runs.

#include "src/graph/session/session_core.h"

#include <utility>

#include "src/base/fork.h"
#include "src/base/library_thread.h"
#include "src/base/thread_exit.h"
#include "src/graph/ir/graph.h"
#include "src/graph/ir/messages.h"
#include "src/graph/run/device.h"
#include "src/graph/run/graph_run.h"
#include "src/graph/run/run_plan.h"

namespace advstep::graph {
namespace {

thread_local bool isWorker = false;

// The child of a fork in a callback is no worker.
const ForkHook forgetWorker([](void*) noexcept { isWorker = false; });

}  // namespace

SessionCore::SessionCore(const Engine& engine, uint64_t id, bool isAlive,
                         std::optional<int32_t> deviceId)
    : engine_(engine), id_(id), deviceId_(deviceId), isAlive_(isAlive) {}

Outcome SessionCore::AddGraph(uint32_t graphId, const ge::Graph& graph, bool isCopy) {
    const std::lock_guard<std::mutex> lock(mutex_);  // a graph's own lock is taken inside
    EntryPointer entry;
    Outcome found = FindLocked(graphId, kUnknownGraph, &entry);
    if (found.status() != kUnknownGraph) {
        return found;  // the session has ended, or the number is in use
    }
    entry = std::make_shared<Entry>();
    ADVSTEP_GRAPH_RETURN_IF_ERROR(GraphAccess::StateOf(graph).MakeModelOnce(isCopy, &entry->model));
    graphs_.emplace(graphId, std::move(entry));
    return {};
}

Outcome SessionCore::RemoveGraph(uint32_t graphId) {
    EntryPointer entry;  // destroyed without the lock, because that may wait for streams
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_GRAPH_RETURN_IF_ERROR(FindLocked(graphId, ge::FAILED, &entry));
    graphs_.erase(graphId);
    return {};
}

Outcome SessionCore::BuildGraph(uint32_t graphId, const std::vector<ge::Tensor>& inputs) {
    EntryPointer entry;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_GRAPH_RETURN_IF_ERROR(FindLocked(graphId, kUnknownGraph, &entry));
    }
    RunPlan plan;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(
        MakePlan(*entry->model, inputs, PlanFor::kShapes, deviceId_, &plan));
    return variables_.Check(*entry->model);
}

Outcome SessionCore::RunGraph(uint32_t graphId, const std::vector<ge::Tensor>& inputs,
                              std::vector<ge::Tensor>* outputs) {
    EntryPointer entry;  // destroyed without the lock
    std::unique_lock<std::mutex> lock(mutex_);
    ADVSTEP_GRAPH_RETURN_IF_ERROR(FindLocked(graphId, kUnknownGraph, &entry));
    return InWorker(
        lock, [&] { return RunModel(*entry->model, inputs, deviceId_, &variables_, outputs); });
}

Outcome SessionCore::RunGraphAsync(uint32_t graphId, const std::vector<ge::Tensor>& inputs,
                                   ge::RunAsyncCallback callback) {
    if (!callback) {
        return Fail(kInnerError, "callback is empty; expected a function");
    }
    std::vector<ge::Tensor> copies;
    copies.reserve(inputs.size());
    for (const ge::Tensor& input : inputs) {
        copies.push_back(input.Clone());
        if (copies.back().GetSize() != input.GetSize()) {
            return Outcome::OutOfMemory();
        }
    }
    // If the job cannot be queued, the callback is destroyed without the lock, because this may run
    // destructors of the program.
    auto shared = std::make_shared<ge::RunAsyncCallback>(std::move(callback));
    const std::lock_guard<std::mutex> lock(mutex_);
    EntryPointer entry;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(FindLocked(graphId, kUnknownGraph, &entry));
    QueueLocked([this, entry = std::move(entry), copies = std::move(copies), callback = shared] {
        std::vector<ge::Tensor> outputs;
        const ge::Status status = Boundary("Session::RunGraphAsync", [&] {
            return RunModel(*entry->model, copies, deviceId_, &variables_, &outputs);
        });
        try {
            (*callback)(status, outputs);
        } catch (...) {  // an exception of the program, which has no caller that could catch it
            (void)StopThreadExit();
        }
        DropMessages();  // those that the callback did not read
    });
    shared.reset();  // the job's owner is the last one
    return {};
}

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

bool SessionCore::HasGraph(uint32_t graphId) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return isAlive_ && graphs_.count(graphId) != 0;
}

void SessionCore::End(bool isDestruction) {
    std::map<uint32_t, EntryPointer> graphs;  // destroyed without the lock
    std::unique_lock<std::mutex> lock(mutex_);
    isAlive_ = false;
    graphs.swap(graphs_);
    changed_.notify_all();
    if (isWorker) {
        if (isDestruction && worker_.joinable()) {
            worker_.detach();  // the worker ends after its last job and then destroys the core
        }
        return;
    }
    if (worker_.joinable()) {
        std::thread worker = std::move(worker_);
        lock.unlock();
        worker.join();
        lock.lock();
    }
    // Another thread may be joining the worker, or may run a graph from a callback of another
    // session.
    changed_.wait(lock, [this] { return !hasWorker_ && !isRunning_; });
}

Outcome SessionCore::FindLocked(uint32_t graphId, ge::Status unknown, EntryPointer* entry) const {
    if (!isAlive_) {
        return Fail(kBadSession, "session {} has ended, or was made without GEInitialize", id_);
    }
    const auto found = graphs_.find(graphId);
    if (found == graphs_.end()) {
        return {unknown, kBadSession, fmt::format("session {} has no graph {}", id_, graphId)};
    }
    *entry = found->second;
    return {};
}

Outcome SessionCore::InWorker(std::unique_lock<std::mutex>& lock,
                              const std::function<Outcome()>& job) {
    if (isRunning_) {
        return Fail(kInnerError, "session {} runs another graph; expected one RunGraph at a time",
                    id_);
    }
    Outcome outcome;
    bool isDone = false;
    isRunning_ = true;
    if (isWorker) {
        // The call comes from a callback or from a function of an operator. A worker runs the graph
        // itself and waits for no other worker, so that callbacks of two sessions can run each
        // other's graphs without a deadlock.
        lock.unlock();
        {
            const SavedContext savedContext;
            outcome = Catch(job);
        }
        lock.lock();
    } else {
        try {
            QueueLocked([&] {
                outcome = Catch(job);
                const std::lock_guard<std::mutex> done(mutex_);
                isDone = true;
                changed_.notify_all();
            });
        } catch (...) {
            isRunning_ = false;
            throw;
        }
        changed_.wait(lock, [&] { return isDone; });
    }
    isRunning_ = false;
    changed_.notify_all();
    lock.unlock();
    return outcome;
}

void SessionCore::QueueLocked(std::function<void()> job) {
    jobs_.push_back(std::move(job));
    if (!hasWorker_) {
        try {
            // The worker owns the session's core, because a callback may destroy the session.
            worker_ = StartThread("advstep-graph", [self = shared_from_this()] { self->Work(); });
        } catch (...) {
            jobs_.pop_back();
            throw;
        }
        hasWorker_ = true;
    }
    changed_.notify_all();
}

void SessionCore::Work() {
    isWorker = true;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return !jobs_.empty() || !isAlive_; });
        if (jobs_.empty()) {
            break;
        }
        std::function<void()> job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job();
        job = nullptr;  // outside the lock, because this may run destructors of the program
        lock.lock();
    }
    hasWorker_ = false;
    changed_.notify_all();
}

}  // namespace advstep::graph
