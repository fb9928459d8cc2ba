// SPDX-License-Identifier: Apache-2.0
// Checks, queues and runs the launches of host operators.

#include "src/aclnn/host_launch.h"

#include <cstring>
#include <type_traits>
#include <utility>

#include "src/aclnn/executor.h"
#include "src/aclnn/range_check.h"
#include "src/aclnn/use_runs.h"
#include "src/runtime/commands/launcher.h"
#include "src/runtime/lifecycle/process_options.h"
#include "src/runtime/memory/memories.h"

namespace advstep {

static_assert(sizeof(HostLaunch) % alignof(AdvStepTensorView) == 0);
static_assert(std::is_trivially_copyable_v<AdvStepTensorView>);

HostLaunch::HostLaunch(AdvStepHostPlan* plan, const Device& device)
    : HostWork(plan->call->table->call), plan_(plan), device_(device) {
    plan->Own();
}

HostLaunch* HostLaunch::Make(AdvStepHostPlan* plan, void* const* addresses, const Device& device) {
    const size_t count = plan->count();
    auto* const made = new (Views{count}) HostLaunch(plan, device);
    for (size_t place = 0; place < count; ++place) {
        AdvStepTensorView* const view =
            new (made->views() + place) AdvStepTensorView(plan->views[place]);
        if (addresses != nullptr) {
            view->data = static_cast<uint8_t*>(addresses[place]);
        }
    }
    return made;
}

HostLaunch* HostLaunch::Copy() const {
    auto* const copy = new (Views{plan_->count()}) HostLaunch(plan_, device_);
    std::memcpy(copy->views(), views(), plan_->count() * sizeof(AdvStepTensorView));
    return copy;
}

size_t HostLaunch::FindUnknown() const {
    size_t place = 0;
    while (place < plan_->count() &&
           (views()[place].data != nullptr || plan_->tensors[place].spanBytes == 0)) {
        ++place;
    }
    return place;
}

Status HostLaunch::CheckWorkspaceApart(const void* workspace) const {
    const auto bytes = static_cast<int64_t>(plan_->workspaceBytes);
    for (size_t place = 0; bytes > 0 && place < plan_->count(); ++place) {
        const HostTensor& tensor = plan_->tensors[place];
        const MemoryExtent extent{1, tensor.spanBytes, tensor.spanBytes};
        if (Overlaps(static_cast<const uint8_t*>(workspace), bytes, First(place), extent)) {
            return Error(ACLNN_ERR_PARAM_INVALID,
                         "workspace at {} ({} bytes) overlaps {} at {} ({} bytes); expected memory "
                         "of its own",
                         workspace, bytes, tensor.name, static_cast<const void*>(First(place)),
                         tensor.spanBytes);
        }
    }
    return {};
}

Status HostLaunch::CheckTensors(uint64_t* checkedEpoch) const {
    RangeCheck check(device_);
    for (size_t place = 0; place < plan_->count(); ++place) {
        const HostTensor& tensor = plan_->tensors[place];
        const auto address = reinterpret_cast<uintptr_t>(First(place));
        if ((address & (tensor.alignment - 1)) != 0) {
            return MisalignedError(tensor.name, address, tensor.alignment);
        }
        ADVSTEP_RETURN_IF_ERROR(
            check.Check(tensor.name, address, static_cast<uint64_t>(tensor.spanBytes)));
    }
    *checkedEpoch = check.epoch();
    return {};
}

Status HostLaunch::CheckMemory(const void* workspace, uint64_t* checkedEpoch) const {
    if (*checkedEpoch != TheDeviceMemory().epoch()) {
        ADVSTEP_RETURN_IF_ERROR(CheckTensors(checkedEpoch));
    }
    return plan_->workspaceBytes == 0
               ? Status()
               : RangeCheck(device_).Check("workspace", reinterpret_cast<uintptr_t>(workspace),
                                           plan_->workspaceBytes);
}

void HostLaunch::ListUses(std::vector<Use>* uses) const {
    for (size_t place = 0; place < plan_->count(); ++place) {
        const HostTensor& tensor = plan_->tensors[place];
        if (tensor.spanBytes > 0) {
            const auto access = tensor.access == ADVSTEP_READS    ? Use::Access::kReads
                                : tensor.access == ADVSTEP_WRITES ? Use::Access::kWrites
                                                                  : Use::Access::kReadsAndWrites;
            uses->push_back({Use::Kind::kMemory, tensor.name, First(place),
                             static_cast<uint64_t>(tensor.spanBytes), access});
            SetRuns(static_cast<const TensorView&>(views()[place]), &uses->back());
        }
    }
}

int32_t HostLaunch::Call(void* workspace, char* message, size_t size) const {
    const AdvStepHostRun run{sizeof(AdvStepHostRun),
                             static_cast<uint32_t>(plan_->count()),
                             views(),
                             workspace,
                             plan_->workspaceBytes,
                             message,
                             size};
    return plan_->call->table->run(plan_->args, &run);
}

Status QueueHostLaunch(aclOpExecutor* executor, const StreamRef& target, void* workspace,
                       bool isSpent) {
    HostLaunch* const host = executor->host;
    Launcher& launcher = TheLauncher();
    const DeviceMemory& memory = TheDeviceMemory();
    const uint64_t epoch = memory.epoch();
    if (Status checked = host->CheckMemory(workspace, &executor->checkedEpoch); !checked.ok()) {
        ADVSTEP_RETURN_IF_ERROR(launcher.CheckStream(target));  // a bad stream is reported first
        return checked;
    }
    const AdvStepHostPlan& plan = host->plan();
    HostWorkLaunch launch;
    launch.length = plan.isShort ? TaskLength::kUsual : TaskLength::kHeavy;
    launch.role = Work::Role::kLaunch;
    launch.device = &host->device();
    const auto again = [&] { return host->CheckMemory(workspace, &executor->checkedEpoch); };
    launch.memory = CheckedAt(memory.epochNow(), epoch, &again);
    if (plan.workspaceBytes > 0) {
        launch.workspace = workspace;
        launch.workspaceBytes = plan.workspaceBytes;
    }
    if (!plan.isShort) {
        launch.timeLimit =
            TheProcessOptions().timeoutUnits.load(std::memory_order_relaxed) * kTimeLimitUnit;
    }
    if (isSpent) {
        executor->host = nullptr;
    } else {
        host->Own();
    }
    return launcher.LaunchHost(target, host, launch);
}

void SetHostAddress(aclOpExecutor* executor, size_t place, void* address) {
    if (executor->host->IsShared()) {
        HostLaunch* const copy = executor->host->Copy();
        std::exchange(executor->host, copy)->Drop();
    }
    executor->host->SetAddress(place, address);
    executor->known = executor->host->AllAddressesKnown();
    executor->checkedEpoch = 0;
}

}  // namespace advstep
