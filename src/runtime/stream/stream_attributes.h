// SPDX-License-Identifier: Apache-2.0
// The attributes of a stream that can change after its creation.

#pragma once

#include <cstdint>

#include "src/runtime/device/core_limits.h"

namespace advstep {

inline constexpr uint32_t kLeastStreamPriority = 7;  // 0 is the greatest

/// The settings of a stream that can be changed after its creation. They end with the stream. The
/// stream's lock guards them.
struct StreamAttributes {
    uint32_t overflowCheck = 0;
    uint32_t userTag = 0;
    uint32_t cacheOpInfo = 0;
    CoreLimits limits;
    bool destroyAnnounced = false;  // to the callbacks of stream_callbacks.h
};

}  // namespace advstep
