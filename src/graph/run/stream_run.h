// SPDX-License-Identifier: Apache-2.0
// Runs of a graph on streams of the program, in device memory of the program.

#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "acl/acl.h"
#include "graph/tensor.h"
#include "src/graph/ir/graph_model.h"
#include "src/graph/ir/outcome.h"
#include "src/graph/run/aclnn_call.h"
#include "src/graph/run/run_memory.h"
#include "src/graph/run/run_plan.h"
#include "src/graph/run/variable_store.h"

namespace advstep::graph {

/// A run that is prepared for one stream and for certain memory: repeatable executors and copies. A
/// decode loop needs one, and each step of it only queues them.
class StreamBinding {
 public:
    /// Prepares a run. Nothing is queued. `read` has the elements of those inputs on which the plan
    /// depends, in host memory; the binding keeps them. A failure leaves *made unfinished, for the
    /// caller to destroy. The memory outlives the run.
    static Outcome Make(const GraphModel& model, const RunStream& stream,
                        const std::vector<ge::Tensor>& inputs, const std::vector<ge::Tensor>& read,
                        const std::vector<ge::Tensor>& outputs, VariableStore* variables,
                        RunMemory* memory, std::unique_ptr<StreamBinding>* made);
    /// Gives its blocks back to the memory. Work that is queued may go on.
    ~StreamBinding();
    StreamBinding(const StreamBinding&) = delete;
    StreamBinding& operator=(const StreamBinding&) = delete;

    /// Returns whether the run is the same with these arguments.
    bool Fits(const RunStream& stream, const std::vector<ge::Tensor>& inputs,
              const std::vector<ge::Tensor>& read, const std::vector<ge::Tensor>& outputs) const;
    /// Queues the run, and describes the outputs.
    Outcome Queue(const GraphModel& model, std::vector<ge::Tensor>* outputs) const;

    bool isCaptured = false;  // a captured model uses the memory, so the binding stays

 private:
    struct Place {
        const uint8_t* address;
        size_t bytes;
    };

    explicit StreamBinding(RunMemory* memory) : memory_(*memory) {}
    static Outcome WrongTensor(const char* kind, size_t index, const std::string& what);
    static bool Overlap(const Place& a, const Place& b);
    Outcome CheckMemory() const;
    Outcome CheckOverlaps() const;
    Outcome CheckUpdatedInputs() const;
    Outcome Allocate(size_t bytes, uint8_t** address);
    Outcome FindSources(const GraphModel& model, VariableStore* variables,
                        std::vector<uint8_t*>* sources);
    Outcome MakeExecutors(const GraphModel& model);

    RunStream stream_;
    std::vector<Place> inputs_;
    std::vector<Place> outputs_;
    std::vector<ge::Tensor> read_;  // copies of inputs on whose elements the plan depends
    RunPlan plan_;
    std::vector<StreamStep> steps_;
    std::vector<PlannedExecutor> executors_;  // of the calls
    std::vector<void*> workspaces_;           // of the calls
    RunMemory& memory_;
    RunMemory::Blocks blocks_;
    std::vector<std::shared_ptr<SessionMemory>> variables_;  // the session keeps them, too
};

/// The prepared runs of one graph.
class StreamRuns {
 public:
    /// Queues a run on the stream, in the calling thread and its current context.
    Outcome Run(const GraphModel& model, aclrtStream stream, const std::vector<ge::Tensor>& inputs,
                VariableStore* variables, std::vector<ge::Tensor>* outputs);

 private:
    using Bindings = std::list<std::unique_ptr<StreamBinding>>;

    void GiveBack(Bindings* used, Bindings* dropped) noexcept;
    Outcome FindRead(const GraphModel& model, const std::vector<ge::Tensor>& inputs,
                     std::vector<size_t>* indices);
    Outcome Read(const GraphModel& model, const RunStream& stream,
                 const std::vector<ge::Tensor>& inputs, std::vector<ge::Tensor>* read);

    RunMemory memory_;  // destroyed after the runs, and waits for their work
    // Guards the members below; never held while functions of the program may run.
    std::mutex mutex_;
    // The inputs on whose elements plans depend, once they are known.
    std::optional<std::vector<size_t>> readInputs_;
    // The runs that no thread queues at present; the latest one is the last. Only one thread at a
    // time may use a repeatable executor.
    Bindings bindings_;
};

}  // namespace advstep::graph
