// SPDX-License-Identifier: Apache-2.0
// The recorded content of a model: branches of task records, and their images for replays.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/capture/task_group.h"
#include "src/runtime/capture/task_record.h"
#include "src/runtime/task/recorder.h"
#include "src/runtime/task/task.h"

namespace advstep {

class Condition;

/// One recorded task: a record, or the wait for a place in another branch.
struct RecordedTask {
    static constexpr int32_t kNoWait = -1;

    TaskRecord record;  // a wait has no ticket yet
    Work::Role role = Work::Role::kOther;
    bool foreign = false;   // as Work::foreign
    bool numbered = false;  // Condition::Number gives its copies the number of their replay
    std::vector<Use> uses;
    std::shared_ptr<void> kept;  // as Work::keep
    int32_t waitBranch = kNoWait;
    size_t waitPosition = 0;
    TaskGroup* group = nullptr;  // the group of the launch; null: it is in no group
    Handle groupHandle = 0;
    size_t groupIndex = 0;

    const Task& task() const { return TaskOf(record); }
};

RecordedTask RecordTask(const Work& work, const RecordFill& fill);
RecordedTask RecordWaitTask(const CapturePlace& place, int64_t timeoutNanoseconds);

/// The captured work, by stream. Branch 0 is the stream on which the capture began.
struct ModelBody {
    std::vector<std::vector<RecordedTask>> branches;
    std::vector<TaskGroup*> groups;
    std::vector<Condition*> conditions;
};

/// Ends the task groups and the variables of a model, or of a capture without a result.
void ReleaseParts(const ModelBody& body) noexcept;

/// Returns a branch for whose last task the end of branch 0 does not wait, or -1 if all branches
/// have joined again.
int32_t FindUnjoined(const ModelBody& body);

/// The records of a branch side by side, ready to be copied into a queue. The record of a group's
/// launch runs the launch that the group has when the record is run.
struct BranchImage {
    struct Wait {
        size_t offset;  // of the record, in bytes
        int32_t branch;
        size_t position;
    };

    TaskRecord records;
    /// A task that records, or waits for, an event for streams outside the model.
    struct Mark {
        size_t offset;      // of the record, in bytes
        uint64_t position;  // of the task, from 1 on
        const void* event;
        bool records;  // false: waits
    };

    std::vector<Wait> waits;
    std::vector<Mark> marks;
    std::vector<size_t> numbered;   // the offsets of the records of conditional tasks, in bytes
    std::vector<size_t> callbacks;  // the offsets of the records of callbacks, in bytes
    uint64_t count = 0;
    bool heavy = false;
    bool startsTimed = false;  // the first task is a wait with a timeout
    bool foreign = false;      // one of the tasks is, as RecordedTask::foreign

    size_t bytes() const { return records.size() * sizeof(TaskChunk); }
};

BranchImage MakeImage(const std::vector<RecordedTask>& branch);

}  // namespace advstep
