// SPDX-License-Identifier: Apache-2.0
// One replay of a model, while it is queued: the records of branches become tasks of streams.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/capture/model_body.h"
#include "src/runtime/commands/event.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/task.h"

namespace advstep {

class Condition;

/// A branch of a model, with the stream that takes it in replays.
struct ModelBranch {
    BranchImage image;
    Stream* stream = nullptr;  // the model's own; only a sub-graph has one for branch 0
    Handle streamHandle = 0;
    Ticket end;  // of the last replay; unused in branch 0

    /// The number of tasks that a replay puts before the captured ones: a wait for the start of the
    /// replay, if the time of the first wait would begin earlier otherwise.
    uint64_t lead() const { return image.startsTimed ? 1 : 0; }
};

/// The run of a condition's sub-graph.
struct SubGraphRun {
    uint64_t number = 0;  // in the condition
    Handle stream = 0;    // on which the program replays the model around it
};

/// A replay of a model, while it is queued. The records of the first branch go into the stream of
/// the replay, those of the others into streams of the model's own.
///
/// It lives under the model's lock, and holds those of the model's events from Queue on, so that it
/// can note its records as their latest ones. Streams' locks are taken under both.
class ModelReplay {
 public:
    struct Setup {
        StreamRef stream;            // of the replay
        uint64_t number = 0;         // of the replays of the model
        std::vector<Ticket> before;  // the ends that the first task waits for
        bool evenIfStopped = false;  // as Stream::Batch::evenIfStopped
        Condition* owner = nullptr;  // whose sub-graph is replayed; null: the model is whole
        SubGraphRun run;             // of the owner
        MemoryCheck memory;          // of what the model uses; none for a sub-graph
        Stream::WaitInList* wait = nullptr;  // entered for the end of the replay, if it has tasks
        const void* model = nullptr;         // of the replay, for the sanitizer
    };

    ModelReplay(std::vector<ModelBranch>* branches, const std::vector<Condition*>& conditions,
                Handle context, const Setup& setup);

    /// Queues the replay, all or nothing. *end: the end on the stream of the replay. 107017: an
    /// event has been destroyed. Codes also as Stream::EnqueueBatch, of which kCheckIsOld means
    /// that the caller makes the check of the memory again, and then another ModelReplay.
    Status Queue(Ticket* end);

 private:
    Status LockEvents();
    Stream::Batch FirstBatch() const;
    void FillFirst(void* memory) const;
    Status QueueBranches(uint64_t first);
    Status QueueBranch(ModelBranch* branch);
    /// Copies the captured records of a branch, and completes what differs between replays.
    void Fill(const BranchImage& image, unsigned char* memory) const;
    void NoteRecords() const;
    Stream* StreamOf(size_t branch) const {
        return branch == 0 ? setup_.stream.stream : branches_[branch].stream;
    }

    std::vector<ModelBranch>& branches_;
    const std::vector<Condition*>& conditions_;
    const Handle context_;
    const Setup& setup_;
    const Handle replayStream_;    // on which the program replays the model, or Execute's
    const size_t resets_;          // the number of conditions that are reset
    std::vector<uint64_t> bases_;  // the sequence before the first captured task, by branch
    ModelEvents events_;
};

}  // namespace advstep
