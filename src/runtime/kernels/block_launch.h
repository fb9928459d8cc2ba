// SPDX-License-Identifier: Apache-2.0
// The queueing of a kernel of the program's own.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/device/device.h"
#include "src/runtime/kernels/kernel_blocks.h"
#include "src/runtime/stream/stream.h"

namespace advstep {

inline constexpr uint32_t kMostBlocks = 65535;

/// The requests of a launch's attributes.
struct BlockLaunchOptions {
    enum class Engine : uint8_t { kByBinary, kCube, kVector };
    Engine engine = Engine::kByBinary;
    bool allAtOnce = false;     // every block on a core of its own
    uint64_t microseconds = 0;  // the time that it may take; 0: any
};

/// A launch of `function`. The arguments are in device memory, or in host memory, of which the
/// launch makes a copy.
struct BlockLaunch {
    const void* function = nullptr;
    uint32_t blocks = 0;
    BlockLaunchOptions options;
    const void* deviceArgs = nullptr;
    const void* hostArgs = nullptr;
    size_t argsBytes = 0;
    const ArgumentPlaceholder* placeholders = nullptr;  // in hostArgs
    uint32_t placeholderCount = 0;
};

/// Queues the launch. 107017: the function is not alive. 107000: the blocks are not 1 to
/// kMostBlocks, or more than the cores if all run at once; or deviceArgs are not memory of the
/// device. Codes also as BeginLaunch and Stream::Enqueue.
Status LaunchBlocks(const StreamRef& stream, const Device& device, const BlockLaunch& launch);

}  // namespace advstep
