// SPDX-License-Identifier: Apache-2.0
// Launches as tasks of streams: their records, and how each kind is run.

#include <chrono>
#include <cstring>
#include <new>

#include "acl/acl_base.h"
#include "src/base/float_environment.h"
#include "src/base/trace_event.h"
#include "src/runtime/device/device.h"
#include "src/runtime/device/kernel_launch.h"

namespace advstep {
namespace {

void DescribeKernelTask(const Task& base, TraceArgs* args) {
    const KernelLaunch& launch = static_cast<const KernelTask&>(base).launch;
    args->Add("rows", launch.rows);
    args->Add("cores", launch.coreCount);
}

bool IsBriefTask(const Task& base) {
    const auto& task = static_cast<const KernelTask&>(base);
    return static_cast<const GaugedProgram*>(task.launch.program)->isBrief(&task + 1);
}

[[gnu::noinline]] Status RunMeasured(const KernelTask& task) {
    const Device& device = *task.launch.device;
    const auto begin = CoreUsage::Clock::now();
    Status status = RunKernel(task.launch, &task + 1);
    const double share = static_cast<double>(task.launch.coreCount) /
                         static_cast<double>(device.settings().soc.vectorCores);
    device.usage().Add(begin, CoreUsage::Clock::now(), share);
    return status;
}

}  // namespace

Status RunKernelTask(const Task& base) {
    const auto& task = static_cast<const KernelTask&>(base);
    if (__builtin_expect(task.launch.device->usage().On(), 0)) {
        return RunMeasured(task);
    }
    return RunKernel(task.launch, &task + 1);
}

Status RunFloatKernelTask(const Task& base) {
    const DefaultFloatEnvironment environment;
    return RunKernelTask(base);
}

Status RunKernelTaskWithin(const Task& base, uint64_t microseconds, int32_t timeoutCode) {
    const auto begin = CoreUsage::Clock::now();
    Status status = RunKernelTask(base);
    const auto took =
        std::chrono::duration_cast<std::chrono::microseconds>(CoreUsage::Clock::now() - begin)
            .count();
    if (status.ok() && microseconds != 0 && static_cast<uint64_t>(took) > microseconds) {
        status = Error(timeoutCode, "{}: took {} us; expected at most {} us", base.name, took,
                       microseconds);
    }
    return status;
}

Status RunForeignKernelTask(const Task& base) {
    const DefaultFloatEnvironment environment;
    const auto units = static_cast<uint64_t>(static_cast<const KernelTask&>(base).launch.argument);
    return RunKernelTaskWithin(base, units * kTimeLimitUnit, ACL_ERROR_RT_VECTOR_CORE_TIMEOUT);
}

size_t KernelTask::BytesFor(const PlannedLaunch& launch) {
    return sizeof(KernelTask) + launch.payloadBytes;
}

KernelTask* KernelTask::Make(void* memory, const PlannedLaunch& launch, const void* payload) {
    auto* const task = new (memory) KernelTask;
    task->name = launch.program->call;
    task->category = TaskCategory::kKernel;
    static constexpr TaskType kType = {&DescribeKernelTask, &IsBriefTask};
    task->type = &kType;
    task->run = launch.run;
    task->length = launch.length;
    task->launch = launch;
    std::memcpy(task + 1, payload, launch.payloadBytes);
    return task;
}

}  // namespace advstep
