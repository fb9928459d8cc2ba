// SPDX-License-Identifier: Apache-2.0
// Queues planned launches on streams.

#include "src/runtime/commands/launcher.h"

#include <atomic>
#include <memory>

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/commands/host_work.h"
#include "src/runtime/device/device.h"
#include "src/runtime/faults/fault_injection.h"
#include "src/runtime/task/running_work.h"

namespace advstep {
namespace {

Launcher& RealLauncher() {
    static NeverDestroyed<Launcher> launcher;
    return *launcher;
}

std::atomic<Launcher*> replacement{nullptr};  // null: the real one

Status FailLaunchTask(const Task& base) {
    const KernelLaunch& launch = static_cast<const KernelTask&>(base).launch;
    return MadeToFail(launch.program->call, launch.failure);
}

}  // namespace

Status MadeToFail(const char* call, int32_t code) {
    return Error(code, "{}: made to fail with {} by advstepFailLaunch", call, code);
}

void FailWhenRun(KernelTask* task, int32_t code) {
    task->launch.failure = code;
    task->run = &FailLaunchTask;
}

Status RefuseDuringAbort(const Device& device, const char* what) {
    return device.aborts().load(std::memory_order_relaxed) == 0
               ? Status()
               : Error(ACL_ERROR_RT_DEVICE_TASK_ABORT,
                       "aclrtDeviceTaskAbort of device {} is under way; expected {} after it",
                       device.id(), what);
}

Status BeginLaunch(const Device& device, int32_t* faultCode) {
    if (__builtin_expect(device.aborts().load(std::memory_order_relaxed) > 0, 0)) {
        ADVSTEP_RETURN_IF_ERROR(RefuseDuringAbort(device, "a launch"));
    }
    return FaultsWanted() ? CountLaunch(faultCode) : Status();
}

Status Launcher::CheckStream(const StreamRef& stream) { return stream.Check(); }

Status Launcher::Launch(const StreamRef& stream, const PlannedLaunch& launch, const void* payload,
                        const Work& work) {
    RunningWork::DescribeCrashes();
    int32_t faultCode = 0;
    ADVSTEP_RETURN_IF_ERROR(BeginLaunch(*launch.device, &faultCode));
    return stream.Enqueue(work, [&](void* memory) {
        KernelTask* const task = KernelTask::Make(memory, launch, payload);
        if (faultCode != 0) {
            FailWhenRun(task, faultCode);
        }
        return task;
    });
}

Status Launcher::LaunchHost(const StreamRef& stream, HostWork* work, const HostWorkLaunch& launch) {
    std::unique_ptr<HostWork, DropShare> share(work);
    HostWorkLaunch begun = launch;
    ADVSTEP_RETURN_IF_ERROR(BeginLaunch(*launch.device, &begun.failure));
    return EnqueueHostWork(stream, share.release(), begun);
}

Launcher& TheLauncher() {
    Launcher* const replaced = replacement.load(std::memory_order_acquire);
    return replaced != nullptr ? *replaced : RealLauncher();
}

Launcher* ExchangeLauncher(Launcher* launcher) {
    return replacement.exchange(launcher, std::memory_order_acq_rel);
}

}  // namespace advstep
