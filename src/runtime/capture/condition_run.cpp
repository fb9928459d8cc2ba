// SPDX-License-Identifier: Apache-2.0
// The records of conditional tasks, and what they do in a replay.
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/runtime/capture/condition.h"
#include "src/runtime/capture/model.h"
#include "src/runtime/stream/run_frame.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/trace/trace.h"

namespace advstep {

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

size_t Condition::ResetBytes() { return AlignedTaskBytes(sizeof(ResetTask)); }

void Condition::MakeReset(void* memory) const {
    auto* const task = new (memory) ResetTask;
    task->name = "condition reset";
    task->bytes = static_cast<uint32_t>(ResetBytes());
    task->variable = variable_;
    task->value = setup_.launchValue;
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

void Condition::Number(Task* record, uint64_t replay, Handle stream) {
    if (record->kind == TaskKind::kPollWait) {
        static_cast<AwaitTask*>(record)->replay = replay;
    } else {
        static_cast<BeginTask*>(record)->replay = replay;
        static_cast<BeginTask*>(record)->stream = stream;
    }
}

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

Status Condition::RunLocked(const Part& part) {
    try {
        ADVSTEP_RETURN_IF_ERROR(
            part.model->QueuePart(part.handle, {run_, replayStream_}, parent_, &now_));
        runsOn_.store(now_.stream, std::memory_order_release);
        runsUpTo_.store(now_.ends.front().sequence, std::memory_order_release);
        return {};
    } catch (const std::bad_alloc&) {
        return Status(ACL_ERROR_BAD_ALLOC);
    }
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
    const Part* const part = Choose();
    if (part == nullptr) {
        phase_.store(Phase::kDone, std::memory_order_release);
        return {};
    }
    // The phase is stored before the part can run and end.
    phase_.store(Phase::kRuns, std::memory_order_release);
    Status queued = RunLocked(*part);
    if (!queued.ok()) {
        phase_.store(Phase::kDone, std::memory_order_release);
    }
    return queued;
}

// Runs as the last task of a sub-graph, on its first stream.
Status Condition::Continue(uint64_t run, TaskSkip skip) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (run != run_ || phase_.load() != Phase::kRuns) {
            return {};
        }
        const Part* part = nullptr;
        if (!cancelled_) {  // End has moved now_ away from a cancelled run
            failure_ = now_.stream->TakeFailureBetween(now_.before, now_.ends.front().sequence);
            dropped_ = skip;
            part = type_ == ACL_MODEL_RI_COND_TYPE_WHILE ? Choose() : nullptr;
        }
        if (failure_.ok() && skip == TaskSkip::kNot && part != nullptr) {
            failure_ = RunLocked(*part);
            if (failure_.ok()) {
                return {};
            }
        }
        phase_.store(Phase::kDone, std::memory_order_release);
    }
    Workers().Wake();  // the progress of this stream does not wake the parent's
    return {};
}

// Runs on the parent's stream, also if the parent's work was dropped.
Status Condition::End(uint64_t replay, TaskSkip skip) {
    PartRun run;
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
        Workers().Wake();
        Workers().NudgeSleepers();
    }
    for (const Ticket& end : run.ends) {
        if (!Reached(end)) {
            Workers().StepAside();
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
