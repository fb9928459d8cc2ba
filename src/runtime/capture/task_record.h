// SPDX-License-Identifier: Apache-2.0
// The memory of a recorded task.

#pragma once

#include <vector>

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

}  // namespace advstep
