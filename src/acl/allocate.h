// SPDX-License-Identifier: Apache-2.0
// Allocations and checks that several memory calls share.

#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "src/base/status.h"

namespace advstep {

/// 100000: the size is 0.
Status CheckSize(uint64_t size);

/// Allocates memory of the current context's device. 100000: devPtr is null, or the size is 0.
/// 107000: the policy is unknown. 107002: there is no context. 207001: there is too little memory.
Status AllocateDevice(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

/// Allocates pinned host memory. 100000: hostPtr is null, or the size is 0. 107002: there is no
/// context. 207001: there is too little memory.
Status AllocatePinned(void** hostPtr, size_t size);

/// 107000: the range is not the program's own memory.
Status CheckHostRange(const void* ptr, uint64_t size);

/// 100000: attributes are missing, or one is unknown. 107000: an attribute names another device
/// than the current context's. 107002: an attribute names a device, and there is no context.
Status CheckMallocConfig(const aclrtMallocConfig* cfg);

}  // namespace advstep
