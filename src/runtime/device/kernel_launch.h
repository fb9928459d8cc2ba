// SPDX-License-Identifier: Apache-2.0
// One planned kernel launch, and its record in a stream.

#pragma once

#include <algorithm>
#include <cstdint>

#include "op_kernel/common/kernel.h"
#include "src/base/status.h"
#include "src/runtime/task/task.h"

namespace advstep {

class Device;

/// Waking threads breaks even at about this many rows (docs/internals/decisions/0003-streams.md). A
/// launch whose rows cost an unknown time is planned with this number, so that it uses the threads.
inline constexpr int64_t kRowsWorthThreads = 32768;

/// The unit of time limits of operators, in microseconds.
inline constexpr uint64_t kTimeLimitUnit = 4294967;

/// The `run` of a KernelTask: RunKernel, measured if the use of the cores is asked for.
Status RunKernelTask(const Task& base);

/// The same in the default floating-point environment, for programs that may compute with
/// floating-point numbers.
Status RunFloatKernelTask(const Task& base);

/// RunKernelTask for the launch of an operator that may take long, with its time limit. 507034: the
/// launch has taken longer, which does not end it.
Status RunOperatorTask(const Task& base);

/// RunOperatorTask in the default floating-point environment.
Status RunFloatOperatorTask(const Task& base);

/// One run of a kernel: everything except the payload.
struct KernelLaunch {
    const KernelProgram* program = nullptr;
    const Device* device = nullptr;
    int32_t coreCount = 0;  // simulated cores with work
    union {
        int32_t timeLimit = 0;  // of RunOperatorTask, in units of kTimeLimitUnit; 0: none
        int32_t failure;        // of a launch that advstepFailLaunch lets fail instead: the code
    };
    int64_t rows = 0;  // of work; they decide whether several threads are worth it
};

/// A launch with what its record needs besides. The payload is `payloadBytes` plain bytes.
struct PlannedLaunch : KernelLaunch {
    uint32_t payloadBytes = 0;  // tiling and addresses
    TaskLength length = TaskLength::kUsual;
    Status (*run)(const Task& task) = &RunKernelTask;  // of the task
};

/// So many rows take 30 us or more, about as long as a sleeping thread needs until it runs.
inline constexpr int64_t kHeavyRows = 16384;
/// A stream's lock may be kept while so many rows run, which takes one to three microseconds.
inline constexpr int64_t kBriefRows = 2048;

/// Returns how long a launch takes. `work` is that of its plan, at least that of its rows; a
/// negative one is not known. Then few rows tell nothing unless the program says that they are
/// even, or has isBrief.
inline TaskLength LengthOf(const KernelProgram& program, int64_t rows, int64_t work) {
    const int64_t atMost = std::max(work, rows);
    if (atMost > kHeavyRows) {
        return TaskLength::kHeavy;
    }
    if (program.evenRows) {
        return atMost > kBriefRows ? TaskLength::kUsual : TaskLength::kBrief;
    }
    if (program.isBrief != nullptr && atMost <= kBriefRows) {
        return TaskLength::kByData;
    }
    return work >= 0 ? TaskLength::kUsual : TaskLength::kUnknown;
}

/// Plays every phase on every core, in the device's core order, on the device's threads where that
/// pays. Returns the fault of the lowest row of the first failing phase, worded by the operator.
Status RunKernel(const KernelLaunch& launch, const void* payload);

/// A launch as a stream's record. The payload follows the record, at a multiple of kTaskAlignment:
/// it may be of a type with that alignment.
struct KernelTask : Task {
    KernelLaunch launch;

    static size_t BytesFor(const PlannedLaunch& launch);
    static KernelTask* Make(void* memory, const PlannedLaunch& launch, const void* payload);
};
static_assert(sizeof(KernelTask) % kTaskAlignment == 0);

/// RunKernelTask. `timeoutCode`: the launch has taken longer than `microseconds`; 0 is no limit.
Status RunKernelTaskWithin(const Task& base, uint64_t microseconds, int32_t timeoutCode);

}  // namespace advstep
