// SPDX-License-Identifier: Apache-2.0
// The number of cores that a launch may use, by device and by stream.

#pragma once

#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/device/device.h"
#include "src/runtime/stream/stream.h"

namespace advstep {

/// 107000: `type` is no aclrtDevResLimitType.
Status CheckLimitType(aclrtDevResLimitType type);

/// 107000: `type` is no aclrtDevResLimitType, or `value` is not in [1, cores of that type in the
/// SoC].
Status CheckLimit(const Device& device, aclrtDevResLimitType type, uint32_t value);

/// Returns the device's limit, or the number of cores of its SoC if there is no limit.
uint32_t CoresOf(const Device& device, aclrtDevResLimitType type);

/// A stream's limits end with the stream. Codes as Stream::Check; SetStreamLimit also as
/// CheckLimit.
Status SetStreamLimit(const StreamRef& stream, aclrtDevResLimitType type, uint32_t value);
Status ResetStreamLimits(const StreamRef& stream);
/// Returns the stream's limit, or CoresOf its device if there is no limit. Codes as Stream::Check
/// and CheckLimitType.
Status CoresOf(const StreamRef& stream, aclrtDevResLimitType type, uint32_t* value);

/// Makes the calling thread plan with the stream's limits, until it uses another stream's, calls
/// UnuseStreamLimits or the stream is destroyed. Codes as Stream::Check.
Status UseStreamLimits(const StreamRef& stream);
/// Ends the use of the stream's limits. 107000: the thread does not use this stream's limits. Codes
/// also as Stream::Check.
Status UnuseStreamLimits(const StreamRef& stream);

/// Returns the number of cores that the calling thread may plan with on the device. It is the limit
/// of the stream in use, if that is a stream of this device and has a limit, and CoresOf the device
/// otherwise.
uint32_t CoresInEffect(const Device& device, aclrtDevResLimitType type);

}  // namespace advstep
