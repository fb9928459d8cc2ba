#include "src/runtime/kernel_launch.h"

#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "acl/acl_base.h"
#include "src/base/log.h"
#include "src/runtime/core_trace.h"
#include "src/runtime/device.h"

namespace advstep {
namespace {

// Waking threads breaks even at about this many rows (docs/decisions/0003-streams.md).
constexpr int64_t kRowsWorthThreads = 32768;
// About this many rows take as long as waking a thread, some 30 us.
constexpr int64_t kHeavyRows = 16384;
// A stream's lock may be kept so long: a microsecond or two.
constexpr int64_t kBriefRows = 1024;

Fault RunPhase(const KernelLaunch& launch, int32_t index, const void* payload,
               const std::vector<int32_t>& order, const TracedKernel& traced) {
    const KernelPhase& phase = launch.program->phases[index];
    const auto play = [&](int32_t begin, int32_t end, Fault* fault) {
        const CoreSlice slice(traced, index, begin, end - begin);
        CoreContext core;
        core.fault = fault;
        if (phase.merges && order.empty()) {
            core.index = begin;
            core.count = end - begin;
            phase.run(core, payload);
            return;
        }
        for (int32_t position = begin; position < end; ++position) {
            core.index = order.empty() ? position : order[static_cast<size_t>(position)];
            phase.run(core, payload);
        }
    };
    Fault lowest;
    // A shuffled order is for tests: there every launch meets the threads.
    const bool threads = launch.rows >= kRowsWorthThreads || !order.empty();
    if (!threads || launch.device->cores().threads() == 1) {
        play(0, launch.coreCount, &lowest);
        return lowest;
    }
    std::mutex mutex;  // guards `lowest`; taken only by chunks that met a fault
    launch.device->cores().Run(launch.coreCount, [&](int32_t begin, int32_t end) {
        Fault fault;
        play(begin, end, &fault);
        if (fault.found()) {
            const std::lock_guard<std::mutex> lock(mutex);
            if (!lowest.found() || fault.row < lowest.row) {
                lowest = fault;
            }
        }
    });
    return lowest;
}

Status RunKernelTask(const Task& base) {
    const auto& task = static_cast<const KernelTask&>(base);
    return RunKernel(task.launch, &task + 1);
}

}  // namespace

Status RunKernel(const KernelLaunch& launch, const void* payload) {
    const KernelProgram& program = *launch.program;
    const std::vector<int32_t> order = launch.device->order().Of(launch.coreCount);
    const TracedKernel traced = TracedKernel::Now(launch.device->id(), program.call);
    for (int32_t index = 0; index < program.phaseCount; ++index) {
        const KernelPhase& phase = program.phases[index];
        const Fault fault = RunPhase(launch, index, payload, order, traced);
        if (!fault.found()) {
            continue;
        }
        const FaultReport report = program.describe(fault, payload);
        if (phase.onFault == OnFault::kFail) {
            launch.device->counters().AddFailure(report.code == ACL_ERROR_RT_RESOURCE_ALLOC_FAIL);
            return Error(report.code, "{}: {}", program.call, report.message);
        }
        // Asked for by a setting, so whatever the log level.
        LogLine(LogLevel::kWarn, fmt::format("{}: {}", program.call, report.message));
    }
    launch.device->counters().AddSuccess(program.count != nullptr ? program.count(payload)
                                                                  : LaunchCounts{});
    return {};
}

size_t KernelTask::BytesFor(const KernelLaunch& launch) {
    return sizeof(KernelTask) + launch.payloadBytes;
}

KernelTask* KernelTask::Make(void* memory, const KernelLaunch& launch, const void* payload) {
    auto* const task = new (memory) KernelTask;
    task->name = launch.program->call;
    task->topic = TaskTopic::kKernel;
    task->run = &RunKernelTask;
    task->heavy = launch.rows > kHeavyRows;
    task->brief = launch.rows <= kBriefRows;
    task->launch = launch;
    std::memcpy(task + 1, payload, launch.payloadBytes);
    return task;
}

}  // namespace advstep
