// SPDX-License-Identifier: Apache-2.0
// Ranges of addresses without memory.

#pragma once

#include <cstddef>

namespace advstep {

/// Reserves addresses without memory: an access to them raises a signal. The range begins at
/// `wanted`, or at any multiple of the alignment if `wanted` is null or not free. Null: the host
/// has no such range.
void* ReserveAddresses(void* wanted, size_t bytes, size_t alignment);

void ReleaseAddresses(void* address, size_t bytes);

/// Unmaps the memory and keeps the addresses reserved. False: the host cannot do it now.
bool VacateAddresses(void* address, size_t bytes);

/// Returns whether the program has memory at all of these addresses.
bool HasMemory(const void* address, size_t bytes);

}  // namespace advstep
