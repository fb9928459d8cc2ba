// How many cores a launch may use, by device and by stream.
#pragma once

#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/device/core_limits.h"
#include "src/runtime/device/device.h"
#include "src/runtime/stream/stream_ref.h"

namespace advstep {

/// 107000: no aclrtDevResLimitType.
Status CheckLimitType(aclrtDevResLimitType type);

/// 107000: no type, or not in [1, cores of that type in the SoC].
Status CheckLimit(const Device& device, aclrtDevResLimitType type, uint32_t value);

/// The device's limit, or what its SoC has.
uint32_t CoresOf(const Device& device, aclrtDevResLimitType type);

/// Codes as Stream::Check. A stream's limits end with it.
Status SetStreamLimit(const StreamRef& stream, aclrtDevResLimitType type, uint32_t value);
Status ResetStreamLimits(const StreamRef& stream);
/// The stream's limit, or what its device gives.
Status CoresOf(const StreamRef& stream, aclrtDevResLimitType type, uint32_t* value);

/// From now on the calling thread plans with the stream's limits, until it uses another's, the
/// stream is destroyed, or Unuse. Codes as Stream::Check.
Status UseStreamLimits(const StreamRef& stream);
/// Codes as Stream::Check; 107000: the thread does not use this stream's.
Status UnuseStreamLimits(const StreamRef& stream);

/// What the calling thread may plan with on the device: the limit of the stream it uses, if that
/// is a stream of this device and has one; else CoresOf the device.
uint32_t CoresInEffect(const Device& device, aclrtDevResLimitType type);

}  // namespace advstep
