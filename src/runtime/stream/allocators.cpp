// SPDX-License-Identifier: Apache-2.0
// Keeps the allocators of the program's streams.

#include "src/runtime/stream/allocators.h"

#include "src/base/never_destroyed.h"

namespace advstep {
namespace {

Status NoRegistration(Handle stream) {
    return Error(ACL_ERROR_RT_PARAM_INVALID,
                 "stream {} has no allocator; expected aclrtAllocatorRegister before",
                 ToPointer(stream));
}

const char* MissingPart(const Allocator& allocator) {
    if (allocator.object == nullptr) {
        return "aclrtAllocatorSetObjToDesc";
    }
    if (allocator.alloc == nullptr) {
        return "aclrtAllocatorSetAllocFuncToDesc";
    }
    if (allocator.free == nullptr) {
        return "aclrtAllocatorSetFreeFuncToDesc";
    }
    return allocator.getAddrFromBlock == nullptr ? "aclrtAllocatorSetGetAddrFromBlockFuncToDesc"
                                                 : nullptr;
}

}  // namespace

Allocators& TheAllocators() {
    static NeverDestroyed<Allocators> allocators;
    return *allocators;
}

Handle Allocators::AddDescription() {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Handle handle =
        (made_ + 1) << 8 | static_cast<uint8_t>(HandleKind::kAllocatorDescription);
    descriptions_.emplace(handle, Allocator());
    ++made_;
    return handle;
}

Status Allocators::FindLocked(const void* description, Allocator** found) {
    const auto entry = descriptions_.find(ToHandle(description));
    if (entry == descriptions_.end()) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "allocatorDesc {} is unknown or has been destroyed; expected one of "
                     "aclrtAllocatorCreateDesc",
                     description);
    }
    *found = &entry->second;
    return {};
}

Status Allocators::RemoveDescription(const void* description) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Allocator* found = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindLocked(description, &found));
    descriptions_.erase(ToHandle(description));
    return {};
}

Status Allocators::Register(Handle stream, const void* description) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Allocator* found = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindLocked(description, &found));
    if (const char* const missing = MissingPart(*found); missing != nullptr) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "allocatorDesc {} is not complete; expected a call of {} before", description,
                     missing);
    }
    registrations_[IndexOf(stream)] = {stream, ToHandle(description), *found};
    return {};
}

Status Allocators::Unregister(Handle stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto entry = registrations_.find(IndexOf(stream));
    if (entry == registrations_.end() || entry->second.stream != stream) {
        return NoRegistration(stream);
    }
    registrations_.erase(entry);
    return {};
}

Status Allocators::Find(Handle stream, Registration* registration) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto entry = registrations_.find(IndexOf(stream));
    if (entry == registrations_.end() || entry->second.stream != stream) {
        return NoRegistration(stream);
    }
    *registration = entry->second;
    return {};
}

void Allocators::Clear() {
    const std::lock_guard<std::mutex> lock(mutex_);
    descriptions_.clear();
    registrations_.clear();
}

}  // namespace advstep
