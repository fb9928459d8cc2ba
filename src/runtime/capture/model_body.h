// SPDX-License-Identifier: Apache-2.0
// The recorded content of a model: branches of tasks, their images for replays, and their listing.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "acl/rt/types.h"
#include "src/base/status.h"
#include "src/runtime/capture/task_group.h"
#include "src/runtime/device/device_resources.h"
#include "src/runtime/sanitizer/ordered_work.h"
#include "src/runtime/task/recorder.h"
#include "src/runtime/task/task.h"

namespace advstep {

class Condition;
class Device;

/// One recorded task: a record, or the wait for a place in another branch.
struct RecordedTask {
    static constexpr int32_t kNoWait = -1;

    TaskRecord record;  // a wait has no ticket yet
    Work::Role role = Work::Role::kOther;
    bool foreign = false;   // as Work::foreign
    bool numbered = false;  // Condition::Number gives its copies the number of their replay
    std::vector<Use> uses;
    std::shared_ptr<void> owner;  // of what the record refers to, as Work::takeOwner
    int32_t waitBranch = kNoWait;
    size_t waitPosition = 0;
    TaskGroup::Place groupPlace;
    std::shared_ptr<const QueuedWork> work;  // for the sanitizer; null: there is nothing to tell

    const Task& task() const { return TaskOf(record); }
};

RecordedTask RecordTask(const Work& work, const RecordFill& fill);
RecordedTask RecordWaitTask(const CapturePlace& place, int64_t timeoutNanoseconds);

/// Returns success if the resources that a task uses exist. 107000: where captured memory was, the
/// device has no live allocation with as many bytes. 107017: a notify, an event or a function is
/// gone.
Status CheckUsesOf(const RecordedTask& task, const Device& device);

/// A function of the program that is called once the model has ended.
struct ModelEndCallback {
    aclrtCallback function = nullptr;
    void* userData = nullptr;
};

/// The captured work, by stream. Branch 0 is the stream on which the capture began.
struct ModelBody {
    std::vector<std::vector<RecordedTask>> branches;
    std::vector<TaskGroup*> groups;
    std::vector<Condition*> conditions;
    std::string name;
    std::vector<ModelEndCallback> endCallbacks;
    std::vector<ResourceHold>
        holds;  // what the model takes of its device: itself, and a stream a branch
};

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
    /// A task that records, or waits for, an event for streams outside the model.
    struct EventTask {
        size_t offset;      // of the record, in bytes
        uint64_t position;  // of the task, from 1 on
        const void* event;
        bool records;  // false: waits
    };

    TaskRecord records;
    std::vector<Wait> waits;
    std::vector<EventTask> eventTasks;
    std::vector<size_t> numbered;   // the offsets of the records of conditional tasks, in bytes
    std::vector<size_t> callbacks;  // the offsets of the records of callbacks, in bytes
    uint64_t count = 0;
    bool heavy = false;
    bool startsTimed = false;  // the first task is a wait with a timeout
    bool foreign = false;      // one of the tasks is, as RecordedTask::foreign
    std::vector<std::shared_ptr<const QueuedWork>> works;  // RecordedTask::work, by task

    size_t bytes() const { return records.size() * sizeof(TaskChunk); }
};

BranchImage MakeImage(const std::vector<RecordedTask>& branch);

/// Lists the tasks of the model of that number, as lines of text, or as JSON events of the Trace
/// Event Format.
void ListTasks(const ModelBody& body, uint32_t model, std::vector<std::string>* lines);
std::string TasksAsJson(const ModelBody& body, uint32_t model, bool verbose);

}  // namespace advstep
