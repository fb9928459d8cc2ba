// SPDX-License-Identifier: Apache-2.0
// Options of the process, which are kept and read, and have their defaults after the runtime's end.

#pragma once

#include <atomic>
#include <cstdint>

#include "src/runtime/device/kernel_launch.h"

namespace advstep {

inline constexpr int kProcessParameters = 4;

/// Each option is independent of the others, so each is atomic by itself.
struct ProcessOptions {
    static constexpr uint64_t kTimeoutUnit = kTimeLimitUnit;  // microseconds
    static constexpr uint64_t kMostTimeoutUnits = 254;

    std::atomic<int64_t> parameters[kProcessParameters];  // by aclSysParamOpt
    std::atomic<int32_t> saturationMode;
    std::atomic<uint64_t> timeoutUnits;
    std::atomic<bool> dumping;
};

ProcessOptions& TheProcessOptions();

/// Sets the defaults.
void ResetProcessOptions();

}  // namespace advstep
