// SPDX-License-Identifier: Apache-2.0
// Builds recorded tasks and branch images, and finds branches that were not joined.

#include "src/runtime/capture/model_body.h"

#include <algorithm>
#include <new>

#include "src/runtime/capture/group_launch.h"
#include "src/runtime/memory/memories.h"

namespace advstep {

RecordedTask RecordTask(const Work& work, const RecordFill& fill) {
    RecordedTask recorded;
    recorded.role = work.role;
    recorded.foreign = work.foreign;
    const size_t bytes = AlignedTaskBytes(work.bytes);
    recorded.record.resize(bytes / sizeof(TaskChunk));
    Task* const task = fill(recorded.record.data());
    task->bytes = static_cast<uint32_t>(bytes);
    if (work.listUses != nullptr) {
        work.listUses(work.source, &recorded.uses);
        for (Use& use : recorded.uses) {
            use.epoch = TheDeviceMemory().epoch();
        }
    }
    if (work.keep != nullptr) {
        recorded.kept = work.keep(work.keepSource);
    }
    return recorded;
}

RecordedTask RecordWaitTask(const CapturePlace& place, int64_t timeoutNanoseconds) {
    RecordedTask recorded;
    constexpr size_t kBytes = AlignedTaskBytes(sizeof(TicketWaitTask));
    recorded.role = Work::Role::kEventWait;
    recorded.record.resize(kBytes / sizeof(TaskChunk));
    auto* const task = new (recorded.record.data()) TicketWaitTask;
    task->name = "event wait";
    task->kind = TaskKind::kTicketWait;
    task->timeoutNanoseconds = timeoutNanoseconds;
    task->bytes = static_cast<uint32_t>(kBytes);
    recorded.waitBranch = place.branch;
    recorded.waitPosition = place.position;
    return recorded;
}

int32_t FindUnjoined(const ModelBody& body) {
    struct Reach {
        size_t covered = 0;   // tasks of the branch for which the end of branch 0 waits
        size_t followed = 0;  // those of them whose waits have been followed
    };
    std::vector<Reach> branches(body.branches.size());
    branches[0].covered = body.branches[0].size();
    // The numbers grow until no wait adds anything.
    for (bool grown = true; grown;) {
        grown = false;
        for (size_t branch = 0; branch < branches.size(); ++branch) {
            Reach& reach = branches[branch];
            for (; reach.followed < reach.covered; ++reach.followed) {
                const RecordedTask& task = body.branches[branch][reach.followed];
                if (task.waitBranch == RecordedTask::kNoWait) {
                    continue;
                }
                size_t& covered = branches[static_cast<size_t>(task.waitBranch)].covered;
                if (task.waitPosition > covered) {
                    covered = task.waitPosition;
                    grown = true;
                }
            }
        }
    }
    for (size_t branch = 0; branch < branches.size(); ++branch) {
        if (branches[branch].covered < body.branches[branch].size()) {
            return static_cast<int32_t>(branch);
        }
    }
    return -1;
}

BranchImage MakeImage(const std::vector<RecordedTask>& branch) {
    BranchImage image;
    for (const RecordedTask& recorded : branch) {
        if (recorded.waitBranch != RecordedTask::kNoWait) {
            const auto& wait = static_cast<const TicketWaitTask&>(recorded.task());
            image.startsTimed =
                image.startsTimed || (image.count == 0 && wait.timeoutNanoseconds > 0);
            image.waits.push_back({image.bytes(), recorded.waitBranch, recorded.waitPosition});
        }
        if (recorded.role == Work::Role::kGraphRecord || recorded.role == Work::Role::kGraphWait) {
            image.marks.push_back({image.bytes(), image.count + 1, recorded.uses.front().address,
                                   recorded.role == Work::Role::kGraphRecord});
        }
        if (recorded.role == Work::Role::kCallback) {
            image.callbacks.push_back(image.bytes());
        }
        if (recorded.numbered) {
            image.numbered.push_back(image.bytes());
        }
        image.heavy = image.heavy || recorded.task().heavy();
        image.foreign = image.foreign || recorded.foreign;
        if (recorded.group != nullptr) {
            AppendGroupLaunch(recorded, &image.records);
            image.foreign = true;  // an update may bring memory of any device
        } else {
            image.records.insert(image.records.end(), recorded.record.begin(),
                                 recorded.record.end());
        }
        ++image.count;
    }
    return image;
}

}  // namespace advstep
