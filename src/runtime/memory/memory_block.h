// SPDX-License-Identifier: Apache-2.0
// The bytes of an allocation.

#pragma once

#include <cstddef>

namespace advstep {

class Device;
struct GuardRecord;

/// Returns memory for an allocation of the device, or of pinned host memory if `device` is null. It
/// is aligned to 64 bytes, or to kLargePage if it is at least that large. *guard is set if
/// ADVANCE_STEP_GUARD is on. Null: the host has not so much memory.
void* TakeBlock(size_t bytes, const Device* device, GuardRecord** guard);

void GiveBackBlock(void* address, GuardRecord* guard) noexcept;

}  // namespace advstep
