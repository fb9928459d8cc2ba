// SPDX-License-Identifier: Apache-2.0
// The Variables of a session: their memory, which lasts as long as the session.

#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "graph/tensor.h"
#include "src/graph/ir/graph_model.h"
#include "src/graph/ir/outcome.h"
#include "src/graph/run/operator_kind.h"
#include "src/graph/run/run_memory.h"

namespace advstep::graph {

/// The state of a session, by the names of its Variables. A Variable is made when it is first
/// needed, with the initial value of the graph that needs it, and never moves.
class VariableStore {
 public:
    /// The variables of one run in host memory. No other such run uses them meanwhile. Readers see
    /// the values from before the run until it replaces them, and need not wait: functions of the
    /// program's operators, which the run calls, may wait for a reader. The work of streams does
    /// not wait either: a program synchronises its streams first.
    class Lease {
     public:
        Lease() = default;
        ~Lease();
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;

        const uint8_t* BytesOf(const std::string& name) const;
        void Replace(const std::string& name, const uint8_t* bytes) const;

     private:
        friend class VariableStore;
        std::unique_lock<std::mutex> run_;  // not locked for a graph without variables
        VariableStore* store_ = nullptr;
    };

    /// Makes the variables of a graph that do not exist yet, and waits for the run that has them.
    /// Fails if one exists with another shape or data type, and if that run is of this thread: an
    /// operator's function of the program, which a run calls, would wait for that run.
    Outcome Acquire(const GraphModel& model, Lease* lease);

    /// Compares the variables of a graph with those that exist. It makes none.
    Outcome Check(const GraphModel& model);

    /// Registers the variables of a graph with the runtime, and returns their memory by node.
    Outcome Share(const GraphModel& model,
                  std::map<size_t, std::shared_ptr<SessionMemory>>* memory);

    /// Copies a variable. A variable that does not exist yet is made with the initial value of one
    /// of the graphs.
    Outcome Read(const std::string& name,
                 const std::vector<std::shared_ptr<const GraphModel>>& graphs, ge::Tensor* tensor);

 private:
    struct Variable {
        ValueDesc desc;
        std::shared_ptr<SessionMemory> memory;
    };

    // Describes the variable of the node, and compares it with the one that exists.
    Outcome DescribeLocked(const ModelNode& node, const ge::Tensor& initial, ValueDesc* desc) const;
    Outcome EnsureLocked(const ModelNode& node);
    Outcome CheckNotLeasedHere() const;

    std::mutex runs_;                        // of a Lease; mutex_ is taken after it
    std::atomic<std::thread::id> holder_{};  // of a Lease, which sets and clears it under runs_
    std::mutex mutex_;  // guards the map and the bytes, and is held for a moment only
    std::map<std::string, Variable> variables_;
};

}  // namespace advstep::graph
