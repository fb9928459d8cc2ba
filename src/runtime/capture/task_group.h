// SPDX-License-Identifier: Apache-2.0
// The memory of recorded tasks, and launches of a model that can be replaced by others.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/task.h"

namespace advstep {

/// The unit of memory for records, which need its alignment.
struct alignas(kTaskAlignment) TaskChunk {
    unsigned char bytes[kTaskAlignment];
};

/// The bytes of a Task and of what follows it.
using TaskRecord = std::vector<TaskChunk>;

inline const Task& TaskOf(const TaskRecord& record) {
    return *reinterpret_cast<const Task*>(record.data());
}

/// A record that queued replays look up, with the objects that it refers to.
struct SharedRecord {
    TaskRecord record;
    std::shared_ptr<void> owner;  // of what the record refers to, as Work::takeOwner
};

/// Launches of a model that can be replaced by others. Replays that are queued look here when they
/// come to a launch, so an update reaches them too, unless the launch has started. Objects are
/// reused (HandleTable). mutex_ guards everything; no lock is taken after it.
class TaskGroup {
 public:
    /// The tasks of a model that are the group's launches.
    struct Span {
        Handle model = 0;
        int32_t branch = 0;
        size_t first = 0;  // of the branch's tasks
        size_t count = 0;
    };
    /// The place of a launch in a group.
    struct Place {
        TaskGroup* group = nullptr;  // null: it is in no group
        Handle handle = 0;
        size_t index = 0;
    };

    using Launches = std::vector<std::shared_ptr<const SharedRecord>>;

    void Open(Handle handle, const Span& span, Launches launches) {
        const std::lock_guard<std::mutex> lock(mutex_);
        handle_ = handle;
        newest_ = std::move(launches);
        span_ = span;
    }

    void Close() {
        const std::lock_guard<std::mutex> lock(mutex_);
        handle_ = 0;
        newest_.clear();
    }

    /// Replaces the group's launches, one by one. *launches then has the earlier ones, which the
    /// caller frees without the lock.
    void Update(Handle handle, Launches* launches) noexcept {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (handle_ == handle) {
            newest_.swap(*launches);
        }
    }

    /// Returns the latest launch of an index. Null: the handle is of an earlier group.
    std::shared_ptr<const SharedRecord> Newest(Handle handle, size_t index) {
        const std::lock_guard<std::mutex> lock(mutex_);
        return handle_ == handle && index < newest_.size() ? newest_[index] : nullptr;
    }

    /// False: the handle is of an earlier group.
    bool Read(Handle handle, Span* span) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (handle_ != handle) {
            return false;
        }
        *span = span_;
        return true;
    }

    // These belong to the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;

 private:
    std::mutex mutex_;
    Handle handle_ = 0;
    Span span_;
    Launches newest_;  // of the capture, or of the latest update
};

/// Never destroyed.
HandleTable<TaskGroup>& TheTaskGroups();

/// Appends the record of a launch of a group, with the launch itself inside. When the record is
/// run, it runs the launch that the group has in its place then, or its own if the group has ended.
void AppendGroupLaunch(const TaskRecord& launch, const TaskGroup::Place& place,
                       TaskRecord* records);

}  // namespace advstep
