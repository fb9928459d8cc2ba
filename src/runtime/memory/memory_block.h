// SPDX-License-Identifier: Apache-2.0
// The bytes of an allocation.

#pragma once

#include <cstddef>

namespace advstep {

class Device;
struct GuardRecord;

/// Returns memory for an allocation of the device, or of pinned host memory if `device` is null. It
/// is aligned to kLargePage if it is at least that large, and otherwise to 4096 bytes if it is
/// pinned host memory or at least that large, and otherwise to 512 bytes. *guard is set if
/// ADVANCE_STEP_GUARD is on; device memory below kLargePage is then aligned to 512 bytes. Null: the
/// host has not so much memory.
void* TakeBlock(size_t bytes, const Device* device, GuardRecord** guard);

void GiveBackBlock(void* address, GuardRecord* guard) noexcept;

}  // namespace advstep
