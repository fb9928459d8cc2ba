// SPDX-License-Identifier: Apache-2.0
// The allocators that the program has registered for its streams.

#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "acl/rt/allocator.h"
#include "src/base/status.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// A program's allocator: its object, and the functions that use the object.
struct Allocator {
    aclrtAllocator object = nullptr;
    aclrtAllocatorAllocFunc alloc = nullptr;
    aclrtAllocatorFreeFunc free = nullptr;
    aclrtAllocatorAllocAdviseFunc allocAdvise = nullptr;
    aclrtAllocatorGetAddrFromBlockFunc getAddrFromBlock = nullptr;
};

/// Descriptions of allocators, and their registrations by stream. mutex_ guards everything, and no
/// lock is taken after it. The callers look whether the stream lives.
class Allocators {
 public:
    struct Registration {
        Handle stream = 0;
        Handle description = 0;
        Allocator allocator;
    };

    Handle AddDescription();

    /// Sets a part of a description. 107017: the handle is of no description.
    template <typename Part>
    Status Set(const void* description, Part Allocator::*part, Part value) {
        const std::lock_guard<std::mutex> lock(mutex_);
        Allocator* found = nullptr;
        ADVSTEP_RETURN_IF_ERROR(FindLocked(description, &found));
        found->*part = value;
        return {};
    }
    /// 107017: the handle is of no description.
    Status RemoveDescription(const void* description);

    /// 107017: the handle is of no description. 107000: the description is not complete.
    Status Register(Handle stream, const void* description);
    /// 107000: the stream has no allocator.
    Status Unregister(Handle stream);
    Status Find(Handle stream, Registration* registration);

    /// Forgets everything.
    void Clear();

 private:
    Status FindLocked(const void* description, Allocator** found);

    std::mutex mutex_;
    uint64_t made_ = 0;  // the number of descriptions ever
    std::unordered_map<Handle, Allocator> descriptions_;
    /// By the index of the stream's handle: a later stream of that index replaces the entry.
    std::unordered_map<uint32_t, Registration> registrations_;
};

/// Never destroyed: programs may register allocators after main().
Allocators& TheAllocators();

}  // namespace advstep
