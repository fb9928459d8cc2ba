#pragma once

#include <cstddef>

namespace advstep {

class Device;
struct GuardRecord;

/// The bytes of an allocation: of the device, or with null pinned host memory. Aligned to 64 bytes,
/// from kLargePage on to that. *guard is set if ADVANCE_STEP_GUARD is on. Null: the host has not
/// that much.
void* TakeBlock(size_t bytes, const Device* device, GuardRecord** guard);

void GiveBackBlock(void* address, GuardRecord* guard) noexcept;

}  // namespace advstep
