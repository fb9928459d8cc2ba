// SPDX-License-Identifier: Apache-2.0
// The run of a program's kernel: its blocks over the cores, its faults, its crashes and its time.

#pragma once

#include <cstddef>
#include <cstdint>

#include "op_kernel/common/kernel.h"
#include "src/base/status.h"
#include "src/runtime/device/kernel_launch.h"

namespace advstep {

/// A place in a launch's arguments that holds the address of another one.
struct ArgumentPlaceholder {
    uint32_t address;  // offset of the 8 bytes
    uint32_t data;     // offset of the data that they point to
};

/// The payload of a launch. `placeholders` ArgumentPlaceholders follow it, and at `argsAt` the
/// arguments, unless they are in device memory.
struct KernelBlocks {
    void* entry = nullptr;
    bool cpu = false;         // entry is a uint32_t (*)(void*), otherwise an AdvstepKernel
    uint32_t count = 0;       // blocks
    uint32_t cores = 0;       // core i runs the blocks i, i + cores, ...
    int32_t faultCode = 0;    // of a data fault
    int32_t timeoutCode = 0;  // of a run that takes longer than `microseconds`
    uint32_t placeholders = 0;
    uint64_t microseconds = 0;  // 0: no limit
    const void* deviceArgs = nullptr;
    uint32_t argsAt = 0;  // from the payload on; the record has arguments at a multiple of 16
};

/// Returns the program of a kernel of that name. There is one for each name, and it is never freed.
const KernelProgram* ProgramOfKernel(const char* name);

/// The `run` of the launch's KernelTask, and its `describe` for the trace.
Status RunKernelBlocks(const Task& task);
void DescribeKernelBlocks(const Task& task, TraceArgs* args);

/// Makes the handlers of crashes (base/crash_signal.h) name the kernel and the block that the
/// crashed thread runs on standard error.
void DescribeKernelCrashes();

}  // namespace advstep
