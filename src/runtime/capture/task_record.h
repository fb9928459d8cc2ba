// SPDX-License-Identifier: Apache-2.0
// The memory of a recorded task.

#pragma once

#include <memory>
#include <vector>

#include "src/runtime/task/task.h"

namespace advstep {

/// The unit of memory for records, which need its alignment.
struct alignas(kTaskAlignment) TaskChunk {
    unsigned char bytes[kTaskAlignment];
};

/// The bytes of a Task and of what follows it.
using TaskRecord = std::vector<TaskChunk>;

/// A record that queued replays look up, with the objects that it refers to.
struct SharedRecord {
    TaskRecord record;
    std::shared_ptr<void> kept;  // as Work::keep
};

inline const Task& TaskOf(const TaskRecord& record) {
    return *reinterpret_cast<const Task*>(record.data());
}

}  // namespace advstep
