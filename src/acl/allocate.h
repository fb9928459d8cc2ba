// SPDX-License-Identifier: Apache-2.0
// Allocations and checks that several memory calls share.

#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "src/base/status.h"
#include "src/runtime/memory/device_memory.h"

namespace advstep {

/// 100000: the size is 0.
Status CheckSize(uint64_t size);

/// Allocates memory of the current context's device, for the call of that name. 100000: devPtr is
/// null, or the size is 0. 107000: the policy is unknown. 107002: there is no context. 207001: the
/// device has too little memory.
Status AllocateDevice(const char* call, void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/// Allocates pinned host memory, for the call of that name. 100000: hostPtr is null, or the size is
/// 0. 107002: there is no context. 207001: there is too little memory.
Status AllocatePinned(const char* call, void** hostPtr, size_t size);

/// Frees memory that a call has allocated. Codes as DeviceMemory::Free.
Status FreeMemory(MemoryKind kind, void* address);

/// 107000: the range is not the program's own memory.
Status CheckHostRange(const void* ptr, uint64_t size);

/// For memory that gets an address on devices, which map whole pages. 107000: ptr is no multiple of
/// 4096.
Status CheckStartsPage(const void* ptr);

/// 100000: attributes are missing, or one is unknown. 107000: an attribute names another device
/// than the current context's. 107002: an attribute names a device, and there is no context.
Status CheckMallocConfig(const aclrtMallocConfig* cfg);

}  // namespace advstep
