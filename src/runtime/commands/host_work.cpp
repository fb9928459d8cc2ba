// SPDX-License-Identifier: Apache-2.0
// Queues and runs functions of the program, and drops their shares.

#include "src/runtime/commands/host_work.h"

#include <chrono>
#include <exception>
#include <memory>
#include <new>

#include "acl/acl_base.h"
#include "src/base/boundary.h"
#include "src/base/float_environment.h"
#include "src/base/log.h"
#include "src/base/no_cancellation.h"
#include "src/runtime/commands/launcher.h"
#include "src/runtime/device/device.h"
#include "src/runtime/task/running_work.h"

namespace advstep {
namespace {

using HostShare = std::unique_ptr<HostWork, DropShare>;

struct HostWorkTask : Task {
    HostWork* work;
    const Device* device;
    void* workspace;
    uint64_t timeLimit;
    int32_t failure;
    bool hasShare;  // false: the model that recorded it has
};

void CountHostRun(const Device& device, const Status& status) {
    if (status.ok()) {
        device.counters().AddSuccess();
    } else {
        device.counters().AddFailure(status.code() == ACL_ERROR_RT_RESOURCE_ALLOC_FAIL
                                         ? DeviceCounters::kAllocationFailures
                                         : DeviceCounters::kExceptions);
    }
}

// The run has the cores of its stream's device to itself, as far as the use of the cores is
// measured.
Status MeasureHostRun(const HostWorkTask& task) {
    const Device& device = *task.device;
    const auto begin = CoreUsage::Clock::now();
    Status status = task.work->Run(task.workspace);
    const auto end = CoreUsage::Clock::now();
    if (device.usage().On()) {
        device.usage().Add(begin, end, 1.0);
    }
    CountHostRun(device, status);
    const auto took = static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(end - begin).count());
    if (status.ok() && task.timeLimit != 0 && took > task.timeLimit) {
        status = Error(ACL_ERROR_RT_VECTOR_CORE_TIMEOUT, "{}: took {} us; expected at most {} us",
                       task.name, took, task.timeLimit);
    }
    return status;
}

// Tasks of kind kAlways are called even if they are to be skipped. So a skipped task drops its
// share here.
Status RunHostWork(const Task& base) {
    const auto& task = static_cast<const HostWorkTask&>(base);
    const HostShare share(task.hasShare ? task.work : nullptr);
    if (task.skip != TaskSkip::kNot) {
        return {};
    }
    if (task.failure != 0) {
        return MadeToFail(task.name, task.failure);
    }
    if (task.device == nullptr) {
        return task.work->Run(task.workspace);
    }
    if (task.timeLimit != 0 || task.device->usage().On()) {
        return MeasureHostRun(task);
    }
    Status status = task.work->Run(task.workspace);
    CountHostRun(*task.device, status);
    return status;
}

// Has the caller's share during the launch. Only the launching thread uses this object.
struct HostLaunching {
    HostWork* work;
    const HostWorkLaunch& launch;
    HostWorkTask* task = nullptr;  // the record that a model keeps, while it is being made
    bool captured = false;
};

void ListHostUses(const void* source, std::vector<Use>* uses) {
    const auto& launching = *static_cast<const HostLaunching*>(source);
    launching.work->ListUses(uses);
    if (launching.launch.workspaceBytes > 0) {
        uses->push_back({Use::Kind::kMemory, "workspace", launching.launch.workspace,
                         launching.launch.workspaceBytes, Use::Access::kReadsAndWrites});
    }
}

// The model drops its share when it is destroyed, so its record is an ordinary task, which needs no
// run when it is skipped. The caller keeps its share until it holds no lock.
std::shared_ptr<void> TakeHostWork(void* source) {
    auto* const launching = static_cast<HostLaunching*>(source);
    launching->work->Own();
    std::shared_ptr<void> owner(launching->work, DropShare());  // drops the share if it throws
    launching->task->hasShare = false;
    launching->task->kind = TaskKind::kPlain;
    launching->captured = true;
    return owner;
}

Status HostFailure(int32_t code, const char* name, const char* message) noexcept {
    try {
        return Error(code, "{}: {}", name, message);
    } catch (...) {
        return Status(code);
    }
}

}  // namespace

Status HostWork::Run(void* workspace) const noexcept {
    const NoCancellation noCancellation;  // the function must not be unwound by pthread_cancel
    const DefaultFloatEnvironment environment;
    char message[1024];
    message[0] = '\0';
    int32_t code = 0;
    try {
        code = Call(workspace, message, sizeof message);
    } catch (const std::exception& error) {
        return ErrorOfThrown(ACL_ERROR_FAILURE, name_, error.what());
    } catch (...) {
        return ErrorOfThrown(ACL_ERROR_FAILURE, name_, TextOfCaught("not a std::exception"));
    }
    message[sizeof message - 1] = '\0';
    return code == 0 ? Status() : HostFailure(code, name_, message);
}

void ReleaseHostArgs(void (*release)(void* args), void* args) noexcept {
    if (release == nullptr) {
        return;
    }
    const NoCancellation noCancellation;
    try {
        release(args);
    } catch (...) {
        Log(LogLevel::kError, "the release of a host operator threw an exception: {}",
            TextOfCaught("it must not throw"));
    }
}

Status EnqueueHostWork(const StreamRef& stream, HostWork* work, const HostWorkLaunch& launch) {
    HostShare share(work);
    RunningWork::DescribeCrashes();
    HostLaunching launching{work, launch};
    Work record(sizeof(HostWorkTask));
    record.role = launch.role;
    record.source = &launching;
    record.listUses = &ListHostUses;
    record.takeOwner = &TakeHostWork;
    record.ownerSource = &launching;
    record.memory = launch.memory;
    ADVSTEP_RETURN_IF_ERROR(stream.Enqueue(record, [&](void* memory) {
        auto* const task = new (memory) HostWorkTask;
        task->name = work->name();
        task->run = &RunHostWork;
        task->kind = TaskKind::kAlways;
        task->length = launch.length;
        task->category = TaskCategory::kKernel;
        task->work = work;
        task->device = launch.device;
        task->workspace = launch.workspace;
        task->timeLimit = launch.timeLimit;
        task->failure = launch.failure;
        task->hasShare = true;
        launching.task = task;
        return task;
    }));
    if (!launching.captured) {
        (void)share.release();  // the task has it, and may have ended by now
    }
    return {};
}

}  // namespace advstep
