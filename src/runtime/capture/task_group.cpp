// SPDX-License-Identifier: Apache-2.0
// Implements the table of task groups, and the tasks that run their launches.

#include "src/runtime/capture/task_group.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"

namespace advstep {
namespace {

struct TaskGroupTable : HandleTable<TaskGroup> {
    TaskGroupTable() : HandleTable(HandleKind::kTaskGroup) {}
};

struct GroupLaunchTask : Task {
    TaskGroup::Place place;
    bool begun;  // Own() describes the launch that is run

    static constexpr size_t HeadBytes() { return AlignedTaskBytes(sizeof(GroupLaunchTask)); }
    const Task& Own() const {
        return *reinterpret_cast<const Task*>(reinterpret_cast<const unsigned char*>(this) +
                                              HeadBytes());
    }
    Task& Own() { return const_cast<Task&>(std::as_const(*this).Own()); }
    // Overwrites the own launch with another one, as far as there is room.
    void Replace(const Task& launch) {
        std::memcpy(static_cast<void*>(&Own()), static_cast<const void*>(&launch),
                    std::min<size_t>(launch.bytes, OwnBytes()));
    }
    size_t OwnBytes() const { return bytes - HeadBytes(); }
    // Null: the group has ended.
    std::shared_ptr<const SharedRecord> Newest() const {
        return place.group->Newest(place.handle, place.index);
    }
};

// A launch may write into its record, but not into the one that all replays share. So a copy of
// that is run, in the place of the task's own launch: the queued record belongs to this thread. The
// trace describes the launch there, since another update may have replaced the newest one by then.
Status RunGroupLaunch(const Task& base) {
    auto& task = const_cast<GroupLaunchTask&>(static_cast<const GroupLaunchTask&>(base));
    const std::shared_ptr<const SharedRecord> newest = task.Newest();
    task.begun = true;
    if (newest == nullptr) {
        return task.Own().run(task.Own());
    }
    const Task& shared = TaskOf(newest->record);
    if (shared.bytes <= task.OwnBytes()) {
        task.Replace(shared);
        return task.Own().run(task.Own());
    }
    TaskRecord copy;  // of a longer launch, by an update after this one was queued
    try {
        copy = newest->record;
    } catch (const std::bad_alloc&) {
        return Status(ACL_ERROR_BAD_ALLOC);
    }
    if (shared.type == task.Own().type) {
        task.Replace(shared);  // a description needs only the beginning
    } else {
        task.Own().type = nullptr;
    }
    return TaskOf(copy).run(TaskOf(copy));
}

void DescribeGroupLaunch(const Task& base, TraceArgs* args) {
    const auto& task = static_cast<const GroupLaunchTask&>(base);
    const std::shared_ptr<const SharedRecord> newest = task.begun ? nullptr : task.Newest();
    const Task& launch = newest != nullptr ? TaskOf(newest->record) : task.Own();
    launch.Describe(args);
}

}  // namespace

HandleTable<TaskGroup>& TheTaskGroups() {
    static NeverDestroyed<TaskGroupTable> groups;
    return *groups;
}

void AppendGroupLaunch(const TaskRecord& launch, const TaskGroup::Place& place,
                       TaskRecord* records) {
    constexpr size_t kHeadChunks = GroupLaunchTask::HeadBytes() / sizeof(TaskChunk);
    const size_t at = records->size();
    records->resize(at + kHeadChunks + launch.size());
    std::copy(launch.begin(), launch.end(),
              records->begin() + static_cast<ptrdiff_t>(at + kHeadChunks));
    auto* const task = new (records->data() + at) GroupLaunchTask;
    const Task& own = TaskOf(launch);
    task->name = own.name;
    task->category = own.category;
    // An update may bring a launch that takes longer.
    task->length = own.heavy() ? TaskLength::kHeavy : TaskLength::kUnknown;
    task->bytes = static_cast<uint32_t>(GroupLaunchTask::HeadBytes()) + own.bytes;
    task->run = &RunGroupLaunch;
    static constexpr TaskType kType = {&DescribeGroupLaunch};
    task->type = &kType;
    task->place = place;
    task->begun = false;
}

}  // namespace advstep
