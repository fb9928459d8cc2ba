#pragma once

#include "src/aclnn/executor.h"
#include "src/base/status.h"
#include "src/runtime/device/device.h"

namespace advstep {

/// 107000 unless [address, address + bytes) lies inside one allocation of the device, or inside
/// registered memory, which has an address on every device. The message names it.
Status CheckRange(const Device& device, const char* name, const void* address, uint64_t bytes);

/// 107000 unless every tensor is aligned to its elements and passes CheckRange. As long as nothing
/// is freed, a check holds: it is not made again for the same executor, and hardly for the same
/// addresses.
Status CheckTensorRanges(aclOpExecutor* executor);

}  // namespace advstep
