#pragma once

#include <cstdint>

#include "op_kernel/common/kernel.h"
#include "src/base/status.h"
#include "src/runtime/task/task.h"

namespace advstep {

class Device;

/// One planned run of a kernel: everything but the payload, which are `payloadBytes` plain bytes.
struct KernelLaunch {
    const KernelProgram* program = nullptr;
    const Device* device = nullptr;
    int32_t coreCount = 0;      // simulated cores with work
    int64_t rows = 0;           // of work, to tell whether it is worth several threads
    uint32_t payloadBytes = 0;  // tiling and addresses
    int32_t faultCode = 0;      // not 0: the launch fails with it instead
};

/// Plays every phase on every core, in the device's core order, on its threads where that pays.
/// Failure: the fault of the lowest row of the first failing phase, worded by the operator.
Status RunKernel(const KernelLaunch& launch, const void* payload);

/// A launch as a stream's record: the payload follows.
struct KernelTask : Task {
    KernelLaunch launch;

    static size_t BytesFor(const KernelLaunch& launch);
    static KernelTask* Make(void* memory, const KernelLaunch& launch, const void* payload);
};

}  // namespace advstep
