// SPDX-License-Identifier: Apache-2.0
// Implements variables of conditional tasks, the sub-graphs of a task, and its records.

#include "src/runtime/capture/condition.h"

#include <cstring>
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/capture/model.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/stream/streams.h"

namespace advstep {
namespace {

struct ConditionTable : HandleTable<Condition> {
    ConditionTable() : HandleTable(HandleKind::kCondition) {}
};

}  // namespace

struct Condition::ResetTask : Task {
    uint64_t* variable;
    uint64_t value;
};

struct Condition::BeginTask : Task {
    Condition* condition;
    uint64_t replay;
    Handle stream;
};

struct Condition::AwaitTask : PollWaitTask {
    Condition* condition;
    uint64_t replay;
};

struct Condition::TailTask : Task {
    Condition* condition;
    uint64_t number;  // of the run
};

HandleTable<Condition>& TheConditions() {
    static NeverDestroyed<ConditionTable> conditions;
    return *conditions;
}

// The variable.

Status Condition::Open(Handle handle, const Setup& setup) {
    void* memory = nullptr;
    Allocation made;
    {
        // A reset by another thread may take the variable at once, but no one gets its place then.
        const MemoryHold hold(&TheDeviceMemory().holds(), HeldRange::Everything());
        ADVSTEP_RETURN_IF_ERROR(TheDeviceMemory().Allocate(
            MemoryKind::kDevice, setup.context.device, sizeof(uint64_t), &memory));
        std::memset(memory, 0, sizeof(uint64_t));
        if (!TheDeviceMemory().Find(memory, &made)) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "device {} was reset during the call; expected no reset beside a capture",
                         setup.context.device->id());
        }
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    handle_ = handle;
    setup_ = setup;
    variable_ = static_cast<uint64_t*>(memory);
    epoch_ = made.epoch;
    uncaptured_.store(0);
    return {};
}

void Condition::Close() noexcept {
    std::vector<SubGraph> subGraphs;
    {
        // Both change together, so that AddSubGraphs of another thread adds nothing that would
        // stay.
        const std::lock_guard<std::mutex> lock(mutex_);
        handle_ = 0;
        subGraphs.swap(subGraphs_);
    }
    for (const SubGraph& subGraph : subGraphs) {
        CloseSubGraph(subGraph.model, subGraph.handle);
    }
    try {
        if (HasVariable()) {
            (void)TheDeviceMemory().Free(MemoryKind::kDevice, variable_);
        }
    } catch (const std::bad_alloc&) {
        // The variable stays until the end of the device.
    }
}

Status Condition::Address(Handle handle, uint64_t** address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    *address = variable_;
    return {};
}

// A reset of the device may have taken the variable, and its address may be in use again.
bool Condition::HasVariable() const {
    Allocation found;
    return TheDeviceMemory().Find(variable_, &found) && found.epoch == epoch_ &&
           found.begin == reinterpret_cast<uintptr_t>(variable_);
}

Status Condition::CheckAlive(Handle handle) const {
    return handle_ == handle
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "handle {} is no condition, or its model has been destroyed; expected one "
                       "of aclmdlRICondHandleCreate",
                       ToPointer(handle));
}

// The sub-graphs.

Status Condition::AddSubGraphs(Handle handle, Handle model, aclmdlRICondTaskType type,
                               uint32_t size) {
    ContextRef context;
    int depth = 0;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ADVSTEP_RETURN_IF_ERROR(CheckUnused(handle, model));
        context = setup_.context;
        depth = setup_.depth + 1;
    }
    std::vector<SubGraph> subGraphs;
    subGraphs.reserve(size);
    Status added;
    try {
        for (uint32_t index = 0; index < size; ++index) {
            const auto entry = TheModels().Acquire();
            entry.object->OpenSubGraph(entry.handle, context, this, depth);
            subGraphs.push_back({entry.object, entry.handle});
        }
        const std::lock_guard<std::mutex> lock(mutex_);
        added = CheckUnused(handle, model);  // another thread may have been faster
        if (added.ok()) {
            type_ = type;
            uncaptured_.store(size);
            subGraphs_.swap(subGraphs);
        }
    } catch (const std::bad_alloc&) {
        added = Status(ACL_ERROR_BAD_ALLOC);
    }
    for (const SubGraph& subGraph : subGraphs) {
        CloseSubGraph(subGraph.model, subGraph.handle);
    }
    return added;
}

void Condition::RemoveSubGraphs(Handle handle) noexcept {
    std::vector<SubGraph> subGraphs;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (handle_ == handle) {
            subGraphs.swap(subGraphs_);
            uncaptured_.store(0);
        }
    }
    for (const SubGraph& subGraph : subGraphs) {
        CloseSubGraph(subGraph.model, subGraph.handle);
    }
}

void Condition::ListSubGraphs(Handle handle, aclmdlRI* subGraphs) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (handle_ == handle) {
        for (const SubGraph& subGraph : subGraphs_) {
            *subGraphs++ = ToPointer(subGraph.handle);
        }
    }
}

Status Condition::CheckUnused(Handle handle, Handle model) const {
    ADVSTEP_RETURN_IF_ERROR(CheckAlive(handle));
    if (setup_.model != model) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "handle {} is of modelRI {}; expected one of {}, into which the stream is "
                     "being captured",
                     ToPointer(handle), ToPointer(setup_.model), ToPointer(model));
    }
    if (setup_.depth == kMostDepth) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "handle {} is of modelRI {} inside {} conditional tasks; expected at most {} "
                     "around a sub-graph",
                     ToPointer(handle), ToPointer(model), setup_.depth, kMostDepth);
    }
    return subGraphs_.empty()
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "handle {} has a conditional task; expected a handle for each "
                       "task",
                       ToPointer(handle));
}

Status Condition::CheckUses() {
    std::vector<SubGraph> subGraphs;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!HasVariable()) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "the variable of a conditional task was captured at {}, and has been "
                         "freed since; expected no reset of the device in the life of the model",
                         static_cast<const void*>(variable_));
        }
        subGraphs = subGraphs_;
    }
    for (const SubGraph& subGraph : subGraphs) {
        ADVSTEP_RETURN_IF_ERROR(subGraph.model->CheckSubGraph(subGraph.handle));
    }
    return {};
}

// The records.

void Condition::Record(std::vector<RecordedTask>* tasks) {
    const auto record = [&](size_t bytes, auto&& make) {
        using Make = std::remove_reference_t<decltype(make)>;
        const RecordFill fill{[](void* callable, void* memory) -> Task* {
                                  return (*static_cast<Make*>(callable))(memory);
                              },
                              &make};
        tasks->push_back(RecordTask(Work(bytes), fill));
        tasks->back().foreign = true;  // a sub-graph may use memory of any device
        tasks->back().numbered = true;
    };
    tasks->reserve(tasks->size() + 3);
    auto begin = [this](void* memory) -> Task* {
        auto* const task = new (memory) BeginTask;
        task->name = "condition";
        task->condition = this;
        task->run = [](const Task& base) {
            const auto& self = static_cast<const BeginTask&>(base);
            return self.condition->Begin(self.replay, self.stream);
        };
        return task;
    };
    auto await = [this](void* memory) -> Task* {
        auto* const task = new (memory) AwaitTask;
        task->name = "condition wait";
        task->kind = TaskKind::kPollWait;
        task->endsTaskBefore = true;
        task->condition = this;
        task->holds = [](PollWaitTask& base) {
            const auto& self = static_cast<const AwaitTask&>(base);
            return self.condition->phase_.load(std::memory_order_acquire) != Phase::kRuns ||
                   self.condition->replay_.load() != self.replay;
        };
        task->place = [](const PollWaitTask& base) {
            const Condition& condition = *static_cast<const AwaitTask&>(base).condition;
            return Ticket{condition.runsOn_.load(std::memory_order_acquire),
                          condition.runsUpTo_.load(std::memory_order_acquire)};
        };
        return task;
    };
    auto end = [this](void* memory) -> Task* {
        auto* const task = new (memory) BeginTask;
        task->name = "condition end";
        task->kind = TaskKind::kAlways;
        task->length = TaskLength::kHeavy;  // it may wait for the end of a sub-graph
        task->condition = this;
        task->run = [](const Task& base) {
            const auto& self = static_cast<const BeginTask&>(base);
            return self.condition->End(self.replay, self.skip);
        };
        return task;
    };
    record(sizeof(BeginTask), begin);
    record(sizeof(AwaitTask), await);
    record(sizeof(BeginTask), end);
}

void Condition::Number(Task* record, uint64_t replay, Handle stream) {
    if (record->kind == TaskKind::kPollWait) {
        static_cast<AwaitTask*>(record)->replay = replay;
    } else {
        static_cast<BeginTask*>(record)->replay = replay;
        static_cast<BeginTask*>(record)->stream = stream;
    }
}

size_t Condition::ResetBytes() { return AlignedTaskBytes(sizeof(ResetTask)); }

void Condition::MakeReset(void* memory) const {
    auto* const task = new (memory) ResetTask;
    task->name = "condition reset";
    task->bytes = static_cast<uint32_t>(ResetBytes());
    task->variable = variable_;
    task->value = setup_.launchValue;
    static constexpr TaskType kType = {
        nullptr, nullptr, [](const Task& base, TouchedMemory* touched) {
            touched->Range(static_cast<const ResetTask&>(base).variable, sizeof(uint64_t));
        }};
    task->type = &kType;
    task->run = [](const Task& base) {
        const auto& reset = static_cast<const ResetTask&>(base);
        __atomic_store_n(reset.variable, reset.value, __ATOMIC_RELEASE);
        return Status();
    };
}

size_t Condition::TailBytes() { return AlignedTaskBytes(sizeof(TailTask)); }

void Condition::MakeTail(void* memory, uint64_t run) {
    auto* const task = new (memory) TailTask;
    task->name = "sub-graph end";
    task->kind = TaskKind::kAlways;
    task->bytes = static_cast<uint32_t>(TailBytes());
    task->condition = this;
    task->run = [](const Task& base) {
        const auto& tail = static_cast<const TailTask&>(base);
        return tail.condition->Continue(tail.number, tail.skip);
    };
    task->number = run;
}

// The run of a task.

const Condition::SubGraph* Condition::Choose() const {
    const uint64_t value = Value();
    uint64_t index = value;
    switch (type_) {
        case ACL_MODEL_RI_COND_TYPE_IF:
            index = value != 0 ? 0 : 1;
            break;
        case ACL_MODEL_RI_COND_TYPE_WHILE:
            index = value != 0 ? 0 : subGraphs_.size();
            break;
        default:
            break;
    }
    return index < subGraphs_.size() ? &subGraphs_[index] : nullptr;
}

// Runs on the parent's stream, so no other run of the task is under way.
Status Condition::Begin(uint64_t replay, Handle stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++run_;
    replay_.store(replay);
    parent_ = RunFrame::innermost->stream();
    replayStream_ = stream;
    cancelled_ = false;
    dropped_ = TaskSkip::kNot;
    failure_ = Status();
    now_.ends.clear();
    const SubGraph* const subGraph = Choose();
    if (subGraph == nullptr) {
        phase_.store(Phase::kDone, std::memory_order_release);
        return {};
    }
    // The phase is stored before the sub-graph can run and end.
    phase_.store(Phase::kRuns, std::memory_order_release);
    Status queued = RunLocked(*subGraph);
    if (!queued.ok()) {
        phase_.store(Phase::kDone, std::memory_order_release);
    }
    return queued;
}

Status Condition::RunLocked(const SubGraph& subGraph) {
    try {
        ADVSTEP_RETURN_IF_ERROR(
            subGraph.model->QueueSubGraph(subGraph.handle, {run_, replayStream_}, parent_, &now_));
        runsOn_.store(now_.stream, std::memory_order_release);
        runsUpTo_.store(now_.ends.front().sequence, std::memory_order_release);
        return {};
    } catch (const std::bad_alloc&) {
        return Status(ACL_ERROR_BAD_ALLOC);
    }
}

// Runs as the last task of a sub-graph, on its first stream.
Status Condition::Continue(uint64_t run, TaskSkip skip) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (run != run_ || phase_.load() != Phase::kRuns) {
            return {};
        }
        const SubGraph* subGraph = nullptr;
        if (!cancelled_) {  // End has moved now_ away from a cancelled run
            failure_ = now_.stream->TakeFailureBetween(now_.before, now_.ends.front().sequence);
            dropped_ = skip;
            subGraph = type_ == ACL_MODEL_RI_COND_TYPE_WHILE ? Choose() : nullptr;
        }
        if (failure_.ok() && skip == TaskSkip::kNot && subGraph != nullptr) {
            failure_ = RunLocked(*subGraph);
            if (failure_.ok()) {
                return {};
            }
        }
        phase_.store(Phase::kDone, std::memory_order_release);
    }
    TheWorkers().Wake();  // the progress of this stream does not wake the parent's
    return {};
}

// Runs on the parent's stream, also if the parent's work was dropped.
Status Condition::End(uint64_t replay, TaskSkip skip) {
    SubGraphPlace run;
    bool cancels = false;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const Phase phase = phase_.load();
        if (phase == Phase::kIdle || replay_.load() != replay) {
            return {};  // the beginning was skipped
        }
        cancels = cancelled_ = phase == Phase::kRuns;
        if (cancels) {
            // Without a reason for `skip`, aclrtStreamStop has ended the wait.
            now_.stream->SkipReplay(now_.before, now_.ends.front().sequence,
                                    skip != TaskSkip::kNot ? skip : TaskSkip::kAborted);
        }
        run = std::move(now_);  // no other run follows one that is done or cancelled
    }
    if (cancels) {
        TheWorkers().Wake();
        TheWorkers().NudgeSleepers();
    }
    for (const Ticket& end : run.ends) {
        if (!Reached(end)) {
            TheWorkers().StepAside();
            ADVSTEP_RETURN_IF_ERROR(WaitFor(end, ToTheEnd()));
        }
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    phase_.store(Phase::kIdle);
    // An abort of the device may find the parent's stream before the replay is queued there, and
    // the streams of the sub-graph later. If the parent's work is dropped, too, its waits say so.
    if (failure_.ok() && dropped_ == TaskSkip::kDeviceAborted && skip == TaskSkip::kNot) {
        return Error(ACL_ERROR_RT_DEVICE_TASK_ABORT,
                     "the sub-graph was dropped by aclrtDeviceTaskAbort before it had ended");
    }
    return std::move(failure_);
}

}  // namespace advstep
