// SPDX-License-Identifier: Apache-2.0
// Replays a model: copies its records into the queues of streams.
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/log.h"
#include "src/runtime/capture/condition.h"
#include "src/runtime/capture/model.h"
#include "src/runtime/capture/replay_wait.h"
#include "src/runtime/device/device.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/stream_ref.h"
#include "src/runtime/stream/streams.h"
#include "src/runtime/stream/wait_in_list.h"

namespace advstep {

/// Brings the failure of a branch to the stream of the replay, which reports it. A wait for the end
/// of the branch comes before it, because the wait that was captured may have ended by its timeout
/// or by aclrtStreamStop. That stream does not wait if it is aborted, destroyed or stopped. The
/// rest of the branch is then skipped at once, because its waits for skipped tasks of that stream
/// would end as if the tasks had run.
struct Model::CollectTask : BranchEndTask {
    uint64_t before;  // the branch's tasks of this replay are those after `before`
    Ticket end;       // and up to `end`

    // A task that a dropped replay was running may fail after the end of that replay.
    void LogFailureBefore() const {
        if (const Status stale = end.stream->TakeFailure(before); !stale.ok()) {
            Log(LogLevel::kError, "a task of a dropped replay failed: {} ({})", stale.message(),
                stale.code());
        }
    }

    static void Make(void* memory, uint64_t before, const Ticket& end) {
        MakeReplayWait(memory, "wait for a branch", end);
        auto* const task = new (static_cast<unsigned char*>(memory) + kReplayWaitBytes) CollectTask;
        task->name = "branch end";
        task->kind = TaskKind::kBranchEnd;
        task->hold = [](const BranchEndTask& base, const Ticket& self) {
            const auto& collect = static_cast<const CollectTask&>(base);
            collect.end.stream->HoldReplay(collect.before, collect.end.sequence, self);
        };
        task->skipped = [](const BranchEndTask& base) {
            const auto& collect = static_cast<const CollectTask&>(base);
            collect.end.stream->SkipReplay(collect.before, collect.end.sequence, collect.skip);
        };
        task->bytes = static_cast<uint32_t>(AlignedTaskBytes(sizeof(CollectTask)));
        task->before = before;
        task->end = end;
        task->run = [](const Task& base) {
            const auto& collect = static_cast<const CollectTask&>(base);
            const Ticket& branch = collect.end;
            if (!branch.stream->Reached(branch.sequence)) {
                branch.stream->SkipReplay(collect.before, branch.sequence);
                Workers().Wake();
                Workers().NudgeSleepers();
                // Earlier replays may be under way, and report the failures of their own tasks.
                return branch.stream->TakeFailureBetween(collect.before, branch.sequence);
            }
            if (collect.skip == TaskSkip::kNot) {
                collect.LogFailureBefore();  // this replay has waited for all before it
            }
            Status failure = branch.stream->TakeFailureBetween(collect.before, branch.sequence);
            // The branch may have stopped on the failure of an earlier replay. If it was skipped
            // with this stream's tasks, that is no failure of its own.
            return failure.ok() && collect.skip == TaskSkip::kNot
                       ? branch.stream->CheckRan(branch.sequence)
                       : std::move(failure);
        };
    }
};

Status Model::LockMarks(ModelEvents* marks) const {
    for (const Branch& branch : branches_) {
        for (const BranchImage::Mark& mark : branch.image.marks) {
            marks->Add(mark.event);
        }
    }
    return marks->Any() ? marks->Lock() : Status();
}

// Makes the records of this replay the latest ones of their events.
void Model::NoteRecords(const StreamRef& stream, const Places& places) const {
    for (size_t index = 0; index < branches_.size(); ++index) {
        for (const BranchImage::Mark& mark : branches_[index].image.marks) {
            if (mark.records) {
                Stream* const of = index == 0 ? stream.stream : branches_[index].stream;
                places.marks.Recorded(mark.event, {of, places.bases[index] + mark.position});
            }
        }
    }
}

void Model::ForgetEndedReplays() {
    replays_.erase(
        std::remove_if(replays_.begin(), replays_.end(),
                       [](const Ticket& end) { return end.stream->Reached(end.sequence); }),
        replays_.end());
}

// Everything else, and whatever fails, goes the long way, which also words failures.
bool Model::ReplaysPlainly(const StreamRef& stream) const {
    return plain_ && context_.handle == stream.caller &&
           checkedEpoch_ == TheDeviceMemory().epoch() && replays_.size() == 1 &&
           replays_[0].stream == stream.stream &&
           context_.device->aborts().load(std::memory_order_relaxed) == 0;
}

// The order of the stream covers the replay before. The enqueue itself checks the stream.
Status Model::ReplayPlainly(const StreamRef& stream) {
    const BranchImage& image = branches_[0].image;
    const Stream::Batch batch{image.bytes(), image.count, image.heavy, image.foreign, false, true};
    ++replayNumber_;
    return stream.EnqueueBatch(
        batch, [](uint64_t) { return Status(); },
        [&](void* memory) { std::memcpy(memory, image.records.data(), image.bytes()); },
        &replays_[0]);
}

Status Model::ReplayLocked(const StreamRef& stream, bool evenIfStopped, Ticket* end,
                           const OptionalPart& part, Stream::WaitInList* wait) {
    // A sub-graph is not checked again: the replay of its parent has checked it, and a call that
    // frees one of the resources waits for that replay.
    if (!part.has_value()) {
        ADVSTEP_RETURN_IF_ERROR(CheckUses());
    }
    const Branch& main = branches_[0];
    ForgetEndedReplays();
    replays_.reserve(replays_.size() + 1);
    // The ends of earlier replays that the order of this stream does not cover. All of them are
    // needed, because a replay that was dropped has not waited for those before it.
    std::vector<Ticket> before;
    for (const Ticket& earlier : replays_) {
        if (earlier.stream != stream.stream) {
            before.push_back(earlier);
        }
    }
    for (const Branch& branch : branches_) {
        if (branch.end.stream != nullptr && !branch.end.stream->Reached(branch.end.sequence)) {
            before.push_back(branch.end);
        }
    }
    constexpr size_t kCollectBytes = kReplayWaitBytes + AlignedTaskBytes(sizeof(CollectTask));
    const size_t others = branches_.size() - 1;
    Stream::Batch batch;
    const auto resets = static_cast<size_t>(
        std::count_if(body_.conditions.begin(), body_.conditions.end(),
                      [](const Condition* condition) { return condition->resets(); }));
    batch.bytes = before.size() * kReplayWaitBytes + resets * Condition::ResetBytes() +
                  main.image.bytes() + others * kCollectBytes +
                  (part.has_value() ? Condition::TailBytes() : 0);
    batch.count =
        before.size() + resets + main.image.count + 2 * others + (part.has_value() ? 1 : 0);
    batch.heavy = std::any_of(branches_.begin(), branches_.end(),
                              [](const Branch& branch) { return branch.image.heavy; });
    batch.foreign = main.image.foreign;
    batch.evenIfStopped = evenIfStopped;
    Places places;
    places.bases.resize(branches_.size());
    places.replay = ++replayNumber_;
    places.stream = part.has_value() ? part->stream : stream.handle;
    ADVSTEP_RETURN_IF_ERROR(LockMarks(&places.marks));
    Status queued = stream.EnqueueBatch(
        batch,
        [&](uint64_t first) {
            return QueueBranches(stream, first + before.size() + resets, &places);
        },
        [&](void* memory) {
            if (wait != nullptr) {
                wait->EnterForTasksLocked(batch.count);
            }
            auto* next = static_cast<unsigned char*>(memory);
            for (const Ticket& ticket : before) {
                // Replays of a model share its streams and conditions.
                MakeReplayWait(next, "wait for the replay before", ticket);
                next += kReplayWaitBytes;
            }
            for (const Condition* const condition : body_.conditions) {
                if (condition->resets()) {
                    condition->MakeReset(next);
                    next += Condition::ResetBytes();
                }
            }
            Fill(main.image, stream, places, next);
            next += main.image.bytes();
            for (size_t index = 1; index < branches_.size(); ++index) {
                CollectTask::Make(next, places.bases[index] - branches_[index].lead(),
                                  branches_[index].end);
                next += kCollectBytes;
            }
            if (part.has_value()) {
                owner_->MakeTail(next, part->number);
            }
        },
        end);
    if (!queued.ok()) {
        Workers().Wake();  // branches may have been queued and skipped
        return queued;
    }
    NoteRecords(stream, places);
    // The end of the last replay on a stream is also the end of all earlier ones there.
    const auto same = std::find_if(replays_.begin(), replays_.end(), [&](const Ticket& earlier) {
        return earlier.stream == stream.stream;
    });
    if (same != replays_.end()) {
        *same = *end;
    } else {
        replays_.push_back(*end);
    }
    return {};
}

}  // namespace advstep
