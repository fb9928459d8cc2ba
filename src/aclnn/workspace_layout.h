// SPDX-License-Identifier: Apache-2.0
// The layout of a workspace: sizes for phase one, offsets for the kernel.

#pragma once

#include <cstddef>
#include <cstdint>

namespace advstep {

/// The layout of arrays in a call's workspace. Phase one takes the size from it, and the kernel the
/// offsets. Offsets count from the workspace's first aligned byte, which AlignedWorkspace finds in
/// phase two; so the caller's address may have any alignment.
class WorkspaceLayout {
 public:
    static constexpr uint64_t kAlignment = 64;

    template <typename T>
    int64_t Book(int64_t count) {
        const uint64_t offset = bytes_;
        const uint64_t size = static_cast<uint64_t>(count) * sizeof(T);
        bytes_ += (size + kAlignment - 1) / kAlignment * kAlignment;
        return static_cast<int64_t>(offset);
    }

    /// The workspace size that phase one reports.
    uint64_t bytes() const { return bytes_ == 0 ? 0 : bytes_ + kAlignment - 1; }

 private:
    uint64_t bytes_ = 0;
};

inline uint8_t* AlignedWorkspace(void* workspace) {
    constexpr uintptr_t kMask = WorkspaceLayout::kAlignment - 1;
    return reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(workspace) + kMask) & ~kMask);
}

}  // namespace advstep
