// SPDX-License-Identifier: Apache-2.0
// Checks the executor, the workspace and the memory of a call, and launches it.

#include "src/aclnn/run.h"

#include <memory>
#include <string_view>

#include "src/aclnn/executor.h"
#include "src/aclnn/host_launch.h"
#include "src/aclnn/range_check.h"
#include "src/base/live_objects.h"
#include "src/runtime/commands/launcher.h"
#include "src/runtime/lifecycle/process_options.h"
#include "src/runtime/memory/memories.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/resource_limit.h"
#include "src/runtime/stream/stream.h"

namespace advstep {
namespace {

using State = aclOpExecutor::State;

// Returns a failure of the runtime with the code of operators. The message contains the runtime's
// code.
Status AsRuntimeError(const Status& status) {
    return Error(ACLNN_ERR_RUNTIME_ERROR, "runtime code {}: {}", status.code(), status.message());
}

const char* NullTensorOf(const aclOpExecutor& executor) {
    if (executor.host != nullptr) {
        return executor.host->plan().tensors[executor.host->FindUnknown()].name;
    }
    int32_t index = 0;
    while (executor.tensors[index].address != nullptr || executor.tensors[index].spanBytes == 0) {
        ++index;
    }
    return executor.slots[index].name;
}

Status NullAddress(const aclOpExecutor& executor) {
    return Error(ACLNN_ERR_PARAM_NULLPTR, "{} has a null address; expected device memory by now",
                 NullTensorOf(executor));
}

Status OtherOwner(const aclOpExecutor& executor, const char* call) {
    const char* const planned = CallOf(executor);
    return std::string_view(planned) != call
               ? Error(ACLNN_ERR_PARAM_INVALID,
                       "executor was planned for {}; expected one planned for {}", planned, call)
               : Error(ACLNN_ERR_PARAM_INVALID,
                       "executor was planned for the {} of another library; expected one planned "
                       "for that of this library",
                       planned);
}

// Checks that the workspace shares no byte with a tensor: the plan there would be overwritten. The
// workspace of the last successful run needs no other look while no address has changed.
Status CheckWorkspaceApart(const aclOpExecutor& executor, const void* workspace) {
    if (executor.host != nullptr) {
        return executor.host->CheckWorkspaceApart(workspace);
    }
    if (executor.workspaceAt < 0 ||
        (executor.workspaceEpoch != 0 && executor.workspace == workspace)) {
        return {};
    }
    const auto* const begin = static_cast<const uint8_t*>(workspace);
    const auto bytes = static_cast<int64_t>(executor.workspaceBytes);
    for (int32_t index = 0; index < executor.tensorCount; ++index) {
        const PlannedTensor& tensor = executor.tensors[index];
        if (Overlaps(begin, bytes, tensor.address, tensor.extent)) {
            return Error(ACLNN_ERR_PARAM_INVALID,
                         "workspace at {} ({} bytes) overlaps {} at {} ({} bytes); expected memory "
                         "of its own",
                         workspace, bytes, executor.slots[index].name,
                         static_cast<const void*>(tensor.address), tensor.spanBytes);
        }
    }
    return {};
}

Status CheckArguments(const aclOpExecutor& executor, const char* call, const void* owner,
                      const void* workspace, uint64_t workspaceSize) {
    if (executor.owner != owner) {
        return OtherOwner(executor, call);
    }
    if (workspace == nullptr && workspaceSize > 0) {
        return Error(ACLNN_ERR_PARAM_NULLPTR,
                     "workspace is null with workspaceSize {}; expected device memory",
                     workspaceSize);
    }
    if (workspaceSize < executor.workspaceBytes) {
        return Error(ACLNN_ERR_PARAM_INVALID,
                     "workspaceSize is {}; expected at least {} from phase one", workspaceSize,
                     executor.workspaceBytes);
    }
    return executor.known ? CheckWorkspaceApart(executor, workspace) : NullAddress(executor);
}

// Checks the workspace, and stores its address in the payload.
Status BindWorkspace(aclOpExecutor* executor, void* workspace, uint64_t epoch) {
    if (executor->workspaceAt < 0) {
        return {};
    }
    if (executor->workspaceEpoch == epoch && executor->workspace == workspace) {
        return {};
    }
    ADVSTEP_RETURN_IF_ERROR(
        CheckRange(*executor->launch.device, "workspace", workspace, executor->workspaceBytes));
    const uint8_t* const aligned = AlignedWorkspace(workspace);
    std::memcpy(executor->payload + executor->workspaceAt, &aligned, sizeof(aligned));
    executor->workspace = workspace;
    executor->workspaceEpoch = epoch;  // read before the check: a later free makes it outdated
    return {};
}

// `epoch` was read before.
Status CheckMemory(aclOpExecutor* executor, void* workspace, uint64_t epoch) {
    ADVSTEP_RETURN_IF_ERROR(CheckTensorRanges(executor, epoch));
    return BindWorkspace(executor, workspace, epoch);
}

// The memory that the kernel uses, which each replay checks again.
struct LaunchUses {
    const aclOpExecutor* executor;
    const void* workspace;
};

void ListUses(const void* source, std::vector<Use>* uses) {
    const auto& launch = *static_cast<const LaunchUses*>(source);
    const aclOpExecutor& executor = *launch.executor;
    for (int32_t index = 0; index < executor.tensorCount; ++index) {
        const PlannedTensor& tensor = executor.tensors[index];
        if (tensor.spanBytes > 0) {
            const TensorSlot& slot = executor.slots[index];
            uses->push_back({Use::Kind::kMemory, slot.name, tensor.address,
                             static_cast<uint64_t>(tensor.spanBytes),
                             slot.written ? Use::Access::kReadsAndWrites : Use::Access::kReads});
            if (tensor.extent.rows > 1) {
                uses->back().runs = {static_cast<uint64_t>(tensor.extent.rows),
                                     static_cast<uint64_t>(tensor.extent.rowBytes),
                                     static_cast<uint64_t>(tensor.extent.strideBytes)};
            }
            uses->back().inexact = tensor.hasGaps;
        }
    }
    if (executor.workspaceAt >= 0) {
        uses->push_back({Use::Kind::kMemory, "workspace", launch.workspace, executor.workspaceBytes,
                         Use::Access::kReadsAndWrites});
    }
}

Status OtherDevice(const aclOpExecutor& executor) {
    ContextRef current;
    ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
    return Error(ACL_ERROR_RT_STREAM_CONTEXT,
                 "executor was planned for device {}; expected the current context's device {}",
                 executor.launch.device->id(), current.device->id());
}

Status Launch(aclOpExecutor* executor, void* workspace, aclrtStream stream, bool isSpent) {
    StreamRef target;
    ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &target));
    const ContextRef* const current = LiveContext();
    if (current == nullptr || current->device != executor->launch.device) {
        return OtherDevice(*executor);
    }
    if (executor->host != nullptr) {
        return QueueHostLaunch(executor, target, workspace, isSpent);
    }
    Launcher& launcher = TheLauncher();
    const DeviceMemory& memory = TheDeviceMemory();
    const uint64_t epoch = memory.epoch();
    if (Status checked = CheckMemory(executor, workspace, epoch); !checked.ok()) {
        ADVSTEP_RETURN_IF_ERROR(launcher.CheckStream(target));  // a bad stream is reported first
        return checked;
    }
    const LaunchUses uses{executor, workspace};
    Work work(KernelTask::BytesFor(executor->launch));
    work.role = Work::Role::kLaunch;
    work.listUses = &ListUses;
    work.source = &uses;
    const auto again = [&] { return CheckMemory(executor, workspace, memory.epoch()); };
    work.memory = CheckedAt(memory.epochNow(), epoch, &again);
    // At most kMostTimeoutUnits, 254.
    executor->launch.timeLimit =
        static_cast<int32_t>(TheProcessOptions().timeoutUnits.load(std::memory_order_relaxed));
    return launcher.Launch(target, executor->launch, executor->payload, work);
}

struct Recycle {
    void operator()(aclOpExecutor* used) const { RecycleExecutor(used); }
};

}  // namespace

Status RequireOutput(const void* pointer, const char* argument) {
    return pointer != nullptr
               ? Status()
               : Error(ACLNN_ERR_PARAM_NULLPTR, "{} is null; expected a pointer", argument);
}

Status PlanningDevice(const Device** device) {
    if (const ContextRef* const current = LiveContext(); current != nullptr) {
        *device = current->device;
        return {};
    }
    ContextRef made;
    ADVSTEP_RETURN_IF_ERROR(AsRuntimeError(CurrentContext(&made)));
    *device = made.device;
    return {};
}

int32_t PlanningVectorCores(const Device& device) {
    return static_cast<int32_t>(CoresInEffect(device, ACL_RT_DEV_RES_VECTOR_CORE));
}

AdvStepOperatorEnvironment EnvironmentOf(const Device& device) {
    const Settings& settings = device.settings();
    return {sizeof(AdvStepOperatorEnvironment),
            static_cast<int32_t>(settings.conformance),
            static_cast<int32_t>(settings.onDivergence),
            PlanningVectorCores(device),
            settings.soc.vectorCores,
            settings.soc.unifiedBufferBytes};
}

Status RunExecutor(const char* call, const void* owner, void* workspace, uint64_t workspaceSize,
                   aclOpExecutor* executor, aclrtStream stream) {
    if (executor == nullptr) {
        return Error(ACLNN_ERR_PARAM_NULLPTR, "executor is null; expected one of phase one");
    }
    ADVSTEP_RETURN_IF_ERROR(RequireOwnExecutor(executor));
    // The executor is spent first, so that only one of two threads can use it.
    State expected = executor->state.load(std::memory_order_acquire);
    const bool spent =
        expected == State::kPlanned &&
        executor->state.compare_exchange_strong(expected, State::kFree, std::memory_order_acq_rel);
    if (!spent && expected != State::kRepeatable) {
        return Error(ACLNN_ERR_PARAM_INVALID,
                     "executor has been used or destroyed; expected a new one of phase one, or "
                     "aclSetAclOpExecutorRepeatable before its first use");
    }
    if (spent) {
        ForgetObject(ObjectKind::kExecutor, executor);
    }
    // A spent executor returns to the pool, after a failure too. The queued launch has copies.
    const std::unique_ptr<aclOpExecutor, Recycle> usedUp(spent ? executor : nullptr);
    ADVSTEP_RETURN_IF_ERROR(CheckArguments(*executor, call, owner, workspace, workspaceSize));
    const Status status = Launch(executor, workspace, stream, spent);
    return status.ok() ? Status() : AsRuntimeError(status);
}

Status CheckRange(const Device& device, const char* name, const void* address, uint64_t bytes) {
    uint64_t left = 0;
    return FindRange(device, name, address, bytes, &left);
}

Status CheckTensorRanges(aclOpExecutor* executor, uint64_t epoch) {
    if (executor->checkedEpoch == epoch) {
        return {};
    }
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): every plan has its device
    RangeCheck check(*executor->launch.device);
    for (int32_t index = 0; index < executor->tensorCount; ++index) {
        const PlannedTensor& tensor = executor->tensors[index];
        const auto address = reinterpret_cast<uintptr_t>(tensor.address);
        const auto alignment = static_cast<uint64_t>(tensor.itemSize);
        if (!executor->aligned && address % alignment != 0) {
            return MisalignedError(executor->slots[index].name, address, alignment);
        }
        ADVSTEP_RETURN_IF_ERROR(check.Check(executor->slots[index].name, address,
                                            static_cast<uint64_t>(tensor.spanBytes)));
    }
    executor->checkedEpoch = check.epoch();
    return {};
}

}  // namespace advstep
