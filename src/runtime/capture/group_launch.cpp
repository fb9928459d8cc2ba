// SPDX-License-Identifier: Apache-2.0
// Runs the launches of task groups.

#include "src/runtime/capture/group_launch.h"

#include <algorithm>
#include <new>

#include "src/runtime/stream/streams.h"

namespace advstep {
namespace {

struct GroupLaunchTask : Task {
    TaskGroup* group;
    Handle handle;
    size_t index;

    static constexpr size_t HeadBytes() { return AlignedTaskBytes(sizeof(GroupLaunchTask)); }
    const Task& Own() const {
        return *reinterpret_cast<const Task*>(reinterpret_cast<const unsigned char*>(this) +
                                              HeadBytes());
    }
};

// Calls use(task) with the group's present launch, which stays alive during the call.
template <typename Use>
auto WithLaunch(const Task& base, Use&& use) {
    const auto& task = static_cast<const GroupLaunchTask&>(base);
    const std::shared_ptr<const SharedRecord> newest = task.group->Newest(task.handle, task.index);
    return use(newest != nullptr ? TaskOf(newest->record) : task.Own());
}

Status RunGroupLaunch(const Task& base) {
    return WithLaunch(base, [&](const Task& launch) {
        if (launch.heavy() && !base.heavy()) {
            Workers().StepAside();  // the stream could not know that the launch is heavy
        }
        return launch.run(launch);
    });
}

void DescribeGroupLaunch(const Task& base, TraceArgs* args) {
    WithLaunch(base, [&](const Task& launch) {
        if (launch.describe != nullptr) {
            launch.describe(launch, args);
        }
    });
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
    // The length is never brief: the stream's lock would be kept while the launch of an update,
    // which may take longer, runs.
    task->length = own.heavy() ? TaskLength::kHeavy : TaskLength::kUsual;
    task->bytes = static_cast<uint32_t>(GroupLaunchTask::HeadBytes()) + own.bytes;
    task->run = &RunGroupLaunch;
    task->describe = &DescribeGroupLaunch;
    task->group = launch.group;
    task->handle = launch.groupHandle;
    task->index = launch.groupIndex;
}

}  // namespace advstep
