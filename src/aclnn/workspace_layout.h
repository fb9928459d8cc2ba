// SPDX-License-Identifier: Apache-2.0
// The beginning of a workspace's layout in the memory that phase two gets.

#pragma once

#include <cstdint>

#include "advance_step/operator/workspace.hpp"

namespace advstep {

using advance_step::op::WorkspaceLayout;

/// Returns the first aligned byte of a workspace.
inline uint8_t* AlignedWorkspace(void* workspace) {
    constexpr uintptr_t kMask = WorkspaceLayout::kAlignment - 1;
    return reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(workspace) + kMask) & ~kMask);
}

}  // namespace advstep
