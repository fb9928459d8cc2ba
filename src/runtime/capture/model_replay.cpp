// SPDX-License-Identifier: Apache-2.0
// Queues replays of models.

#include "src/runtime/capture/model_replay.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/log.h"
#include "src/runtime/capture/condition.h"
#include "src/runtime/commands/callbacks.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/stream/streams.h"

namespace advstep {
namespace {

constexpr size_t kReplayWaitBytes = AlignedTaskBytes(sizeof(TicketWaitTask));

// Makes a wait that the program did not queue, so aclrtStreamStop does not end it.
void MakeReplayWait(void* memory, const char* name, const Ticket& ticket) {
    auto* const wait = new (memory) TicketWaitTask;
    wait->name = name;
    wait->kind = TaskKind::kTicketWait;
    wait->bytes = static_cast<uint32_t>(kReplayWaitBytes);
    wait->ticket = ticket;
    wait->outlastsStop = true;
}

// Brings the failure of a branch to the stream of the replay, which reports it. A wait for the end
// of the branch comes before it, because the wait that was captured may have ended by its timeout
// or by aclrtStreamStop. That stream does not wait if it is aborted, destroyed or stopped. The rest
// of the branch is then skipped at once, because its waits for skipped tasks of that stream would
// end as if the tasks had run.
struct CollectTask : BranchEndTask {
    uint64_t before;  // the branch's tasks of this replay are those after `before`
    Ticket end;       // and up to `end`

    static void Make(void* memory, uint64_t before, const Ticket& end);
    static Status Run(const Task& base);
    void LogFailureBefore() const;
};

constexpr size_t kCollectTaskBytes = AlignedTaskBytes(sizeof(CollectTask));
constexpr size_t kCollectBytes = kReplayWaitBytes + kCollectTaskBytes;

void CollectTask::Make(void* memory, uint64_t before, const Ticket& end) {
    MakeReplayWait(memory, "wait for a branch", end);
    auto* const task = new (static_cast<unsigned char*>(memory) + kReplayWaitBytes) CollectTask;
    task->name = "branch end";
    task->type = &kTouchesNothing;  // the branch is a stream of its own
    task->kind = TaskKind::kBranchEnd;
    task->redirectWaits = [](const BranchEndTask& base, const Ticket& self) {
        const auto& collect = static_cast<const CollectTask&>(base);
        collect.end.stream->RedirectReplayWaits(collect.before, collect.end.sequence, self);
    };
    task->skipBranch = [](const BranchEndTask& base) {
        const auto& collect = static_cast<const CollectTask&>(base);
        collect.end.stream->SkipReplay(collect.before, collect.end.sequence, collect.skip);
    };
    task->bytes = static_cast<uint32_t>(kCollectTaskBytes);
    task->before = before;
    task->end = end;
    task->run = &Run;
}

Status CollectTask::Run(const Task& base) {
    const auto& collect = static_cast<const CollectTask&>(base);
    const Ticket& branch = collect.end;
    if (!branch.stream->Reached(branch.sequence)) {
        branch.stream->SkipReplay(collect.before, branch.sequence);
        TheWorkers().Wake();
        TheWorkers().NudgeSleepers();
        // Earlier replays may be under way, and report the failures of their own tasks.
        return branch.stream->TakeFailureBetween(collect.before, branch.sequence);
    }
    if (collect.skip == TaskSkip::kNot) {
        collect.LogFailureBefore();  // this replay has waited for all before it
    }
    Status failure = branch.stream->TakeFailureBetween(collect.before, branch.sequence);
    // The branch may have stopped on the failure of an earlier replay. If it was skipped with this
    // stream's tasks, that is no failure of its own.
    return failure.ok() && collect.skip == TaskSkip::kNot ? branch.stream->CheckRan(branch.sequence)
                                                          : std::move(failure);
}

// A task that a dropped replay was running may fail after the end of that replay.
void CollectTask::LogFailureBefore() const {
    if (const Status stale = end.stream->TakeFailure(before); !stale.ok()) {
        Log(LogLevel::kError, "a task of a dropped replay failed: {} ({})", stale.message(),
            stale.code());
    }
}

}  // namespace

ModelReplay::ModelReplay(std::vector<ModelBranch>* branches,
                         const std::vector<Condition*>& conditions, Handle context,
                         const Setup& setup)
    : branches_(*branches),
      conditions_(conditions),
      context_(context),
      setup_(setup),
      replayStream_(setup.owner != nullptr ? setup.run.stream : setup.stream.handle),
      resets_(static_cast<size_t>(
          std::count_if(conditions.begin(), conditions.end(),
                        [](const Condition* condition) { return condition->resets(); }))),
      bases_(branches->size()) {}

Status ModelReplay::Queue(Ticket* end) {
    ADVSTEP_RETURN_IF_ERROR(LockEvents());
    const Stream::Batch batch = FirstBatch();
    Status queued = setup_.stream.EnqueueBatch(
        batch,
        [&](uint64_t first) { return QueueBranches(first + setup_.before.size() + resets_); },
        [&](void* memory) {
            if (setup_.wait != nullptr) {
                setup_.wait->EnterForTasksLocked(batch.count);
            }
            FillFirst(memory);
        },
        end);
    if (!queued.ok()) {
        TheWorkers().Wake();  // branches may have been queued and skipped
        return queued;
    }
    NoteRecords();
    return {};
}

Status ModelReplay::LockEvents() {
    for (const ModelBranch& branch : branches_) {
        for (const BranchImage::EventTask& task : branch.image.eventTasks) {
            events_.Add(task.event);
        }
    }
    return events_.Any() ? events_.Lock() : Status();
}

// The first branch, between what it waits for and the ends of the others.
Stream::Batch ModelReplay::FirstBatch() const {
    const BranchImage& image = branches_[0].image;
    const size_t others = branches_.size() - 1;
    const bool subGraph = setup_.owner != nullptr;
    Stream::Batch batch;
    batch.bytes = setup_.before.size() * kReplayWaitBytes + resets_ * Condition::ResetBytes() +
                  image.bytes() + others * kCollectBytes + (subGraph ? Condition::TailBytes() : 0);
    batch.count = setup_.before.size() + resets_ + image.count + 2 * others + (subGraph ? 1 : 0);
    batch.heavy = std::any_of(branches_.begin(), branches_.end(),
                              [](const ModelBranch& branch) { return branch.image.heavy; });
    batch.foreign = image.foreign;
    batch.evenIfStopped = setup_.evenIfStopped;
    batch.memory = setup_.memory;
    batch.works.model = subGraph ? nullptr : setup_.model;
    batch.works.first = setup_.before.size() + resets_;
    batch.works.works = subGraph ? nullptr : &image.works;
    return batch;
}

void ModelReplay::FillFirst(void* memory) const {
    auto* next = static_cast<unsigned char*>(memory);
    for (const Ticket& ticket : setup_.before) {
        // Replays of a model share its streams and conditions.
        MakeReplayWait(next, "wait for the replay before", ticket);
        next += kReplayWaitBytes;
    }
    for (const Condition* const condition : conditions_) {
        if (condition->resets()) {
            condition->MakeReset(next);
            next += Condition::ResetBytes();
        }
    }
    Fill(branches_[0].image, next);
    next += branches_[0].image.bytes();
    for (size_t index = 1; index < branches_.size(); ++index) {
        CollectTask::Make(next, bases_[index] - branches_[index].lead(), branches_[index].end);
        next += kCollectBytes;
    }
    if (setup_.owner != nullptr) {
        setup_.owner->MakeTail(next, setup_.run.number);
    }
}

// Queues the branches except the first. If one fails, those queued before it are skipped again,
// because they wait for tasks of the main stream that will not come. It runs under the main
// stream's lock, so the caller wakes the workers after releasing that.
Status ModelReplay::QueueBranches(uint64_t first) {
    bases_[0] = first - 1;
    for (size_t index = 1; index < branches_.size(); ++index) {
        bases_[index] = branches_[index].stream->Now().sequence + branches_[index].lead();
    }
    Status status;
    size_t queued = 1;
    try {
        while (queued < branches_.size() && status.ok()) {
            status = QueueBranch(&branches_[queued]);
            queued += status.ok() ? 1 : 0;
        }
    } catch (const std::bad_alloc&) {
        status = Status(ACL_ERROR_BAD_ALLOC);
    }
    for (size_t index = 1; index < queued && !status.ok(); ++index) {
        const ModelBranch& branch = branches_[index];
        branch.stream->SkipReplay(bases_[index] - branch.lead(), Stream::kNever);
    }
    return status;
}

Status ModelReplay::QueueBranch(ModelBranch* branch) {
    const size_t leadBytes = branch->lead() * kReplayWaitBytes;
    // Each stream looks at the check under its own lock, as whoever takes memory away looks at
    // each.
    const Stream::Batch batch{
        leadBytes + branch->image.bytes(),
        branch->lead() + branch->image.count,
        branch->image.heavy,
        branch->image.foreign,
        true,
        false,
        setup_.memory,
        {nullptr, branch->lead(), setup_.owner == nullptr ? &branch->image.works : nullptr}};
    return branch->stream->EnqueueBatch(
        branch->streamHandle, context_, batch, [](uint64_t) { return Status(); },
        [&](void* memory) {
            if (branch->lead() > 0) {
                MakeReplayWait(memory, "wait for start", {StreamOf(0), bases_[0]});
            }
            Fill(branch->image, static_cast<unsigned char*>(memory) + leadBytes);
        },
        &branch->end);
}

void ModelReplay::Fill(const BranchImage& image, unsigned char* memory) const {
    if (image.count == 0) {
        return;  // nothing was captured, and neither side has an address
    }
    std::memcpy(memory, image.records.data(), image.bytes());
    for (const BranchImage::Wait& wait : image.waits) {
        auto* const task = reinterpret_cast<TicketWaitTask*>(memory + wait.offset);
        const auto branch = static_cast<size_t>(wait.branch);
        task->ticket = {StreamOf(branch), bases_[branch] + wait.position};
    }
    for (const size_t offset : image.numbered) {
        Condition::Number(reinterpret_cast<Task*>(memory + offset), setup_.number, replayStream_);
    }
    for (const size_t offset : image.callbacks) {
        Callbacks::SetReplay(reinterpret_cast<Task*>(memory + offset), replayStream_);
    }
    for (const BranchImage::EventTask& event : image.eventTasks) {
        auto* const task = reinterpret_cast<Task*>(memory + event.offset);
        if (event.records) {
            events_.FillRecord(event.event, task);
        } else {
            events_.FillWait(event.event, StreamOf(0), static_cast<TicketWaitTask*>(task));
        }
    }
}

// Makes the records of this replay the latest ones of their events.
void ModelReplay::NoteRecords() const {
    for (size_t index = 0; index < branches_.size(); ++index) {
        for (const BranchImage::EventTask& task : branches_[index].image.eventTasks) {
            if (task.records) {
                events_.Recorded(task.event, {StreamOf(index), bases_[index] + task.position});
            }
        }
    }
}

}  // namespace advstep
