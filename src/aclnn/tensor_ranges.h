// SPDX-License-Identifier: Apache-2.0
// Checks that tensors lie inside allocations of their device.

#pragma once

#include "src/aclnn/executor.h"
#include "src/base/status.h"
#include "src/runtime/device/device.h"

namespace advstep {

/// 107000: [address, address + bytes) is neither inside one allocation of the device nor inside
/// registered memory, which every device can use. The message contains `name`.
Status CheckRange(const Device& device, const char* name, const void* address, uint64_t bytes);

/// 107000: a tensor is not aligned to its elements or fails CheckRange. A successful check is valid
/// until memory is freed. Until then it is not repeated for the same executor, and rarely for the
/// same addresses.
Status CheckTensorRanges(aclOpExecutor* executor);

}  // namespace advstep
