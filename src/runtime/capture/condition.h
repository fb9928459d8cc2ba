// SPDX-License-Identifier: Apache-2.0
// The variable of a conditional task of a model (aclmdlRICondHandle), and the task itself.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "acl/acl_rt.h"
#include "src/base/status.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/recorder.h"
#include "src/runtime/task/task.h"

namespace advstep {

class Model;
struct RecordedTask;

/// The place of a replayed sub-graph: its first stream, and the ends of all its streams.
struct SubGraphPlace {
    Stream* stream = nullptr;  // the first stream
    uint64_t before = 0;       // the sequence of the last task there before the run
    std::vector<Ticket> ends;  // the end on the first stream comes first
};

/// A variable of 8 bytes, and the conditional task that tests it.
///
/// A conditional task is three records in its stream. The first tests the variable and queues a
/// sub-graph on the sub-graph's own streams. The last record of the sub-graph there tests the
/// variable again (WHILE) or ends the run. The second record waits until the run has ended. The
/// third runs in any case: if the wait was skipped, it cancels the run, and it returns only after
/// the sub-graph's tasks have ended. A replay whose first record was skipped has no run, and leaves
/// the run of another replay alone. So nothing of a sub-graph runs once its parent's stream has
/// passed the task, and a free of memory that waits for the parent's stream waits for the
/// sub-graphs as well.
///
/// Objects are reused (HandleTable) and never freed, so queued records may point to them. mutex_
/// guards everything except the atomics. setup_ and variable_ do not change in the life of a
/// handle, so the model that has the variable reads them without it. A sub-graph's Model::mutex_
/// and streams' locks are taken under it. No Model::mutex_ is held before it.
class Condition {
 public:
    struct Setup {
        Handle model = 0;  // whose replays reset the variable
        ContextRef context;
        uint64_t launchValue = 0;
        bool resets = false;  // to launchValue, at the start of each execution
        int depth = 0;        // the number of conditional tasks around the model
    };

    /// Allocates the variable. 207001: the device's memory is used up.
    Status Open(Handle handle, const Setup& setup);
    /// Frees the variable and closes the sub-graphs.
    void Close() noexcept;

    /// 107000: the handle is of no live variable.
    Status Address(Handle handle, uint64_t** address);

    /// The most conditional tasks around a sub-graph. Checks, prints and ends of models follow
    /// them recursively, so they need stack for each.
    static constexpr int kMostDepth = 64;

    /// Makes the sub-graphs of the conditional task. 107000: the handle is of no live variable, of
    /// another model, or has a task; the sub-graphs would be too deep.
    Status AddSubGraphs(Handle handle, Handle model, aclmdlRICondTaskType type, uint32_t size);
    /// Closes the sub-graphs again, because the task could not be recorded. RemoveSubGraphs and
    /// ListSubGraphs do nothing if the variable of that handle has ended meanwhile.
    void RemoveSubGraphs(Handle handle) noexcept;
    void ListSubGraphs(Handle handle, aclmdlRI* subGraphs);

    /// Appends the three records of the task.
    void Record(std::vector<RecordedTask>* tasks);
    /// Gives a copy of one of these records the number of its replay, and the program's stream of
    /// that. A model's replays have different numbers.
    static void Number(Task* record, uint64_t replay, Handle stream);

    /// Notes that a sub-graph has been captured.
    void SubGraphIsCaptured() { uncaptured_.fetch_sub(1); }
    bool AllCaptured() const { return uncaptured_.load() == 0; }

    bool resets() const { return setup_.resets; }
    static size_t ResetBytes();
    /// Makes the record that resets the variable.
    void MakeReset(void* memory) const;
    /// Makes the record that ends a run of a sub-graph, or begins the next one.
    static size_t TailBytes();
    void MakeTail(void* memory, uint64_t run);

    /// Returns success if the variable and all resources of the sub-graphs still exist. 107000: the
    /// variable has been freed. Codes also as Model::CheckSubGraph.
    Status CheckUses();

    // These belong to the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;

 private:
    enum class Phase { kIdle, kRuns, kDone };
    struct SubGraph {
        Model* model;
        Handle handle;
    };
    struct ResetTask;
    struct BeginTask;
    struct AwaitTask;
    struct TailTask;

    bool HasVariable() const;
    Status CheckAlive(Handle handle) const;
    Status CheckUnused(Handle handle, Handle model) const;
    uint64_t Value() const { return __atomic_load_n(variable_, __ATOMIC_ACQUIRE); }
    /// Returns the sub-graph to run now. Null: none.
    const SubGraph* Choose() const;
    Status Begin(uint64_t replay, Handle stream);
    Status RunLocked(const SubGraph& subGraph);
    Status Continue(uint64_t run, TaskSkip skip);
    Status End(uint64_t replay, TaskSkip skip);

    std::mutex mutex_;
    Handle handle_ = 0;
    Setup setup_;
    uint64_t* variable_ = nullptr;
    uint64_t epoch_ = 0;  // of DeviceMemory at the variable's allocation
    aclmdlRICondTaskType type_ = ACL_MODEL_RI_COND_TYPE_IF;
    std::vector<SubGraph> subGraphs_;
    std::atomic<size_t> uncaptured_{0};

    std::atomic<Phase> phase_{Phase::kIdle};
    std::atomic<uint64_t> replay_{0};  // to which the run belongs; set before phase_ leaves kIdle
    // The end of what is queued of the run. A loop queues the next round in the task that ends the
    // round before, on the same stream: once an end has been reached, the run is over or a later
    // end stands here.
    std::atomic<Stream*> runsOn_{nullptr};
    std::atomic<uint64_t> runsUpTo_{0};
    uint64_t run_ = 0;          // numbers the runs, so that the tail of an earlier one does nothing
    Stream* parent_ = nullptr;  // the stream of the conditional task that runs
    Handle replayStream_ = 0;   // the stream on which the program replays the task that runs
    bool cancelled_ = false;
    TaskSkip dropped_ = TaskSkip::kNot;  // why the run was cut short, if not by its parent
    SubGraphPlace now_;
    Status failure_;  // of the run
};

/// Never destroyed: queued work may outlive main().
HandleTable<Condition>& TheConditions();

}  // namespace advstep
