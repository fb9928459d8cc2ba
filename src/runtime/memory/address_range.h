#pragma once

#include <cstddef>

namespace advstep {

/// Addresses without memory: whoever touches them gets a signal. At `wanted`, or if that is null
/// or not free, at any multiple of the alignment. Null: there are none so many.
void* ReserveAddresses(void* wanted, size_t bytes, size_t alignment);

void ReleaseAddresses(void* address, size_t bytes);

/// Takes away what is mapped there and keeps the addresses. False: the host cannot now.
bool VacateAddresses(void* address, size_t bytes);

/// The program has memory at all of these addresses.
bool HasMemory(const void* address, size_t bytes);

}  // namespace advstep
