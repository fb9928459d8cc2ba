// SPDX-License-Identifier: Apache-2.0
// Launches of a model that can be replaced by others.

#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "src/base/status.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// Launches of a model that can be replaced by others. Objects are reused (HandleTable). mutex_
/// guards everything.
class TaskGroup {
 public:
    struct Span {
        Handle model = 0;
        int32_t branch = 0;
        size_t first = 0;  // of the branch's tasks
        size_t count = 0;
    };

    void Open(Handle handle, const Span& span) {
        const std::lock_guard<std::mutex> lock(mutex_);
        handle_ = handle;
        span_ = span;
    }

    void Close() {
        const std::lock_guard<std::mutex> lock(mutex_);
        handle_ = 0;
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
};

/// Never destroyed.
HandleTable<TaskGroup>& TaskGroups();

}  // namespace advstep
