// SPDX-License-Identifier: Apache-2.0
// Runs the launches of task groups.

#include "src/runtime/capture/group_launch.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "acl/acl_base.h"

namespace advstep {
namespace {

struct GroupLaunchTask : Task {
    TaskGroup* group;
    Handle handle;
    size_t index;
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
    std::shared_ptr<const SharedRecord> Newest() const { return group->Newest(handle, index); }
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

void AppendGroupLaunch(const RecordedTask& launch, TaskRecord* records) {
    constexpr size_t kHeadChunks = GroupLaunchTask::HeadBytes() / sizeof(TaskChunk);
    const size_t at = records->size();
    records->resize(at + kHeadChunks + launch.record.size());
    std::copy(launch.record.begin(), launch.record.end(),
              records->begin() + static_cast<ptrdiff_t>(at + kHeadChunks));
    auto* const task = new (records->data() + at) GroupLaunchTask;
    const Task& own = launch.task();
    task->name = own.name;
    task->category = own.category;
    // An update may bring a launch that takes longer.
    task->length = own.heavy() ? TaskLength::kHeavy : TaskLength::kUnknown;
    task->bytes = static_cast<uint32_t>(GroupLaunchTask::HeadBytes()) + own.bytes;
    task->run = &RunGroupLaunch;
    static constexpr TaskType kType = {&DescribeGroupLaunch};
    task->type = &kType;
    task->group = launch.group;
    task->handle = launch.groupHandle;
    task->index = launch.groupIndex;
    task->begun = false;
}

}  // namespace advstep
